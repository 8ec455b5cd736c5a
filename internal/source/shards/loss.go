package shards

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
)

// retentionSlack is the tolerance for the log's trimming and for clocks.
const retentionSlack = 5 * time.Minute

// Reasons of a gap, for a person.
const (
	reasonTrimmed = "records were trimmed, after their %d hours, before they were read"
	reasonUnread  = "the shard was not read for %d hours: its first records were trimmed"
	reasonOrphan  = "the parent of this shard was trimmed before it was found: its records are not known"
	reasonGone    = "the shard is gone: its records were trimmed before they were read"
)

// loss is a lost range whose end is unknown.
type loss struct {
	from   string
	since  time.Time // zero when not known
	reason string
}

// initialLoss returns the loss at the start of a shard: an unseen parent, or the shard's
// own first records if it waited too long. TRIM_HORIZON begins after them without an error.
func (r *reader) initialLoss() *loss {
	known := r.shard.LastKnown()
	// A later claim of this reader begins after its own gap.
	begins := r.at == TrimHorizon || r.at == afterGap && !r.claimed
	switch {
	case r.at == orphaned:
		return &loss{since: r.shard.UnseenSince, reason: reasonOrphan}
	case begins && time.Since(known) > r.retention()-retentionSlack:
		return &loss{from: string(TrimHorizon), since: known, reason: r.resumePoint(reasonUnread)}
	}
	return nil
}

// handleError handles an error that AWS returned in place of an iterator or a page.
func (r *reader) handleError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, ErrExpired):
		r.source.errors.WithLabelValues(failureExpired).Inc()
		r.iterator = ""
		return nil
	case errors.Is(err, ErrTrimmed), errors.Is(err, ErrGone):
		return r.checkMissing(ctx, err)
	}
	return err
}

// checkMissing determines whether only the records at the position are gone, or the whole
// shard. A lagging server may have sent the error, so that checkMissing requests an
// iterator at the shard's beginning before it records a loss.
func (r *reader) checkMissing(ctx context.Context, cause error) error {
	iterator, err := r.source.client.open(ctx, r.shard.Stream, r.id, TrimHorizon)
	switch {
	case err == nil && errors.Is(cause, ErrGone):
		r.iterator = ""
		return cause // it exists: retry the position
	case err == nil:
		r.noteTrimmed()
		r.iterator = iterator
		return nil
	case errors.Is(err, ErrGone), errors.Is(err, ErrTrimmed):
		return r.giveUp(ctx)
	}
	return err
}

// noteTrimmed records the loss of the records between the position and the next record.
//
// A shard without counted records may always lose its first records, if they are older than
// its discovery. initialLoss covers the newer ones.
func (r *reader) noteTrimmed() {
	if r.lost == nil && !r.at.unread() {
		r.lost = &loss{from: string(r.at), since: r.lastCounted(), reason: r.resumePoint(reasonTrimmed)}
	}
}

// lastCounted returns the time of the last record that was counted, as far as known.
func (r *reader) lastCounted() time.Time {
	if !r.newest.IsZero() {
		return r.newest
	}
	return r.shard.LastKnown()
}

// giveUp records the loss of a shard that no longer exists: its own records, and the
// records of its children before the horizon.
//
// A shard that was read within the retention cannot have been trimmed. If its whole stream
// is missing too, the Region or account is probably wrong. The reader then keeps the
// position until the retention has passed.
func (r *reader) giveUp(ctx context.Context) error {
	since := r.lastCounted()
	until := r.horizon()
	if since.After(until.Add(retentionSlack)) {
		if err := r.findStream(ctx); err != nil {
			return err
		}
		until = time.Now()
	}
	if r.lost == nil {
		r.lost = &loss{from: string(r.at), since: since}
	}
	if r.lost.reason != reasonOrphan {
		r.lost.reason = reasonGone
	}
	if err := r.recordGap(ctx, shardEnd, until); err != nil {
		return err
	}
	r.closed, r.gone = true, true
	return nil
}

// findStream returns an error unless the shard's stream exists.
func (r *reader) findStream(ctx context.Context) error {
	if err := r.source.childrenPacer.wait(ctx); err != nil {
		return err
	}
	_, err := r.source.client.describe(ctx, r.shard.Stream, "", r.id)
	if errors.Is(err, ErrGone) {
		return r.source.client.traits.NotHere
	}
	return err
}

// boundLoss records a loss once its end is known: before the first record of a page, or at
// the end of the shard.
func (r *reader) boundLoss(ctx context.Context, p Page, end bool) error {
	switch {
	case r.lost == nil:
		return nil
	case len(p.Records) > 0:
		first := p.Records[0]
		return r.recordGap(ctx, atSequence(first.Sequence), time.UnixMilli(first.Time))
	case p.Next == "":
		return r.recordGap(ctx, shardEnd, r.horizon())
	case end:
		return r.recordGap(ctx, afterGap, r.horizon())
	}
	return nil
}

// horizon returns the time before which the log has trimmed all records.
func (r *reader) horizon() time.Time { return time.Now().Add(-r.retention()) }

func (r *reader) retention() time.Duration { return r.source.client.traits.Retention }

// resumePoint returns a reason with the retention in hours.
func (r *reader) resumePoint(reason string) string {
	return fmt.Sprintf(reason, int(r.retention().Hours()))
}

// recordGap records the loss in the Sink, up to a position and a time, and continues there.
func (r *reader) recordGap(ctx context.Context, to Position, until time.Time) error {
	if r.lost.since.After(until) { // it was found after it was trimmed
		r.lost.since = time.Time{}
	}
	g := sample.Gap{
		From: r.lost.from, To: string(to), Since: r.lost.since, Until: until, Reason: r.lost.reason,
	}
	if err := r.handle.Gap(ctx, g); err != nil {
		return source.FromSink(fmt.Errorf("record a gap: %w", err))
	}
	r.source.gaps.WithLabelValues(r.table).Inc()
	r.source.log.Error("samples are lost", "shard", r.shard.Name, "from", g.From, "to", g.To,
		"since", g.Since, "until", g.Until, "reason", g.Reason)
	r.at, r.lost = to, nil
	return nil
}
