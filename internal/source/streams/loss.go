package streams

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/internal/source/streams/api"
	"github.com/keyheat/keyheat/sample"
)

// retention is how long DynamoDB Streams keeps a record.
const retention = 24 * time.Hour

// retentionSlack is how much the removal of records and clocks may be off.
const retentionSlack = 5 * time.Minute

// Reasons of a gap, for a person.
const (
	reasonTrimmed = "records were trimmed, after their 24 hours, before they were read"
	reasonUnread  = "the shard was not read for 24 hours: its first records were trimmed"
	reasonOrphan  = "the parent of this shard was trimmed before it was found: its records are not known"
	reasonGone    = "the shard is gone: its records were trimmed before they were read"
)

// loss is a range that is lost, whose end is not known yet.
type loss struct {
	from   string
	since  time.Time // zero when not known
	reason string
}

// initialLoss returns what a shard has lost before anything of it is read: a parent
// that nobody saw, or its own beginning while it waited for too long. TRIM_HORIZON
// begins after that without an error.
func (r *reader) initialLoss() *loss {
	known := r.shard.lastKnown()
	// A later claim of this reader begins after the gap that it recorded itself.
	begins := r.at == api.TrimHorizon || r.at == api.AfterGap && !r.claimed
	switch {
	case r.at == api.Orphaned:
		return &loss{since: r.shard.UnseenSince, reason: reasonOrphan}
	case begins && time.Since(known) > retention-retentionSlack:
		return &loss{from: string(api.TrimHorizon), since: known, reason: reasonUnread}
	}
	return nil
}

// handleError handles an error that AWS returned in place of an iterator or a page.
func (r *reader) handleError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, api.ErrExpired):
		r.source.errors.WithLabelValues(failureExpired).Inc()
		r.iterator = ""
		return nil
	case errors.Is(err, api.ErrTrimmed), errors.Is(err, api.ErrGone):
		return r.checkMissing(ctx, err)
	}
	return err
}

// checkMissing determines whether only the records at the position are gone, or the
// whole shard. One response may come from a server that lags, so that an iterator
// at the shard's beginning is requested before a loss is recorded.
func (r *reader) checkMissing(ctx context.Context, cause error) error {
	iterator, err := r.source.client.OpenIterator(ctx, r.stream, r.id, api.TrimHorizon)
	switch {
	case err == nil && errors.Is(cause, api.ErrGone):
		r.iterator = ""
		return cause // it exists: retry the position
	case err == nil:
		r.noteTrimmed()
		r.iterator = iterator
		return nil
	case errors.Is(err, api.ErrGone), errors.Is(err, api.ErrTrimmed):
		return r.giveUp(ctx)
	}
	return err
}

// noteTrimmed records that the records after the position are gone, up to the first
// that will be read.
//
// Of a shard of which nothing was counted the first records may always go, if
// they were there before it was known; initialLoss covers those that were not.
func (r *reader) noteTrimmed() {
	if r.lost == nil && !r.at.Unread() {
		r.lost = &loss{from: string(r.at), since: r.lastCounted(), reason: reasonTrimmed}
	}
}

// lastCounted returns the time of the last record that was counted, as far as known.
func (r *reader) lastCounted() time.Time {
	if !r.newest.IsZero() {
		return r.newest
	}
	return r.shard.lastKnown()
}

// errNoStream: nothing of the stream is there, although its records must be.
var errNoStream = errors.New("its stream does not exist, although records live for 24 hours: check that AWS_REGION and the credentials are of the table's region and account, or remove the table from streams.tables")

// giveUp records the loss of a shard that no longer exists. What it held, and what
// its children held before the horizon, is lost.
//
// One that was read within a day cannot have been trimmed. When its whole stream
// is missing too, this is more likely a wrong region or account than a loss: the
// position is kept until a day has gone.
func (r *reader) giveUp(ctx context.Context) error {
	since := r.lastCounted()
	until := horizon()
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
	if err := r.recordGap(ctx, api.ShardEnd, until); err != nil {
		return err
	}
	r.closed, r.gone = true, true
	return nil
}

// findStream returns an error unless the shard's stream exists.
func (r *reader) findStream(ctx context.Context) error {
	if err := r.source.childrenPacer.Wait(ctx); err != nil {
		return err
	}
	_, err := r.source.client.Describe(ctx, r.stream, nil, r.id)
	if errors.Is(err, api.ErrGone) {
		return errNoStream
	}
	return err
}

// boundLoss records a loss once its end is known: before the first record of a
// page, or at the end of what there is.
func (r *reader) boundLoss(ctx context.Context, p api.Page, end bool) error {
	switch {
	case r.lost == nil:
		return nil
	case len(p.Records) > 0:
		first := &p.Records[0]
		return r.recordGap(ctx, api.At(sequence(first)), time.UnixMilli(createdAt(first)))
	case p.Next == "":
		return r.recordGap(ctx, api.ShardEnd, horizon())
	case end:
		return r.recordGap(ctx, api.AfterGap, horizon())
	}
	return nil
}

// horizon returns the time before which all records are trimmed.
func horizon() time.Time { return time.Now().Add(-retention) }

// recordGap records in the Sink what is lost, up to a position and a time, and goes
// on from there.
func (r *reader) recordGap(ctx context.Context, to api.Position, until time.Time) error {
	if r.lost.since.After(until) { // it was found later than it was trimmed
		r.lost.since = time.Time{}
	}
	g := sample.Gap{
		From: r.lost.from, To: string(to), Since: r.lost.since, Until: until, Reason: r.lost.reason,
	}
	if err := r.handle.Gap(ctx, g); err != nil {
		return fromSink(fmt.Errorf("record a gap: %w", err))
	}
	r.source.gaps.WithLabelValues(r.table).Inc()
	r.source.log.Error("samples are lost", "shard", r.shard.Name, "from", g.From, "to", g.To,
		"since", g.Since, "until", g.Until, "reason", g.Reason)
	r.at, r.lost = to, nil
	return nil
}
