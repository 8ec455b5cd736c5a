package kafka

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
	"github.com/keyheat/keyheat/sample"
)

// Reasons of a gap, for a person.
const (
	reasonRetention = "the log starts behind the position: its retention removed records before they were read"
	reasonCut       = "the log was cut before the position, by an unclean election or a loss of power: it no longer has the last records that were read; reading on at the cut"
	reasonShorter   = "the log ends before the position, and the cluster has no topic ids: the topic was deleted and created again, or the log was cut; reading on at its end, so that nothing counts twice"
	reasonCorrupt   = "the log is corrupt here: "
)

// lossConfirmations is how often brokers have to repeat an answer before the loss of
// records is recorded. A single answer may come from a deposed leader, or be damaged on the
// way.
const lossConfirmations = 3

// lossCheck counts the observations of a loss before it is recorded.
type lossCheck struct {
	offset int64 // position of the loss
	seen   int
	end    int64 // end of the log, if before offset
	step   int64 // length of the last range that was skipped unread; 0 none
}

// confirm reports whether the loss was observed often enough at this offset.
func (d *lossCheck) confirm(offset int64) bool {
	if d.offset != offset {
		d.offset, d.seen = offset, 0
	}
	d.seen++
	return d.seen > lossConfirmations
}

// outOfRange determines whether the position lies before or after the log, and records the
// gap before it moves the position.
func (r *reader) outOfRange(ctx context.Context) error {
	first, end, err := r.connection.bounds(ctx, r.topic, r.id)
	switch {
	case err != nil:
		return err
	case r.at < first:
		return r.recordLoss(ctx, first, reasonRetention)
	case r.at > end:
		return r.checkEnd(ctx, first, end)
	case r.epoch >= 0: // the leader no longer knows the epoch
		r.epoch = -1
		return nil
	}
	return fmt.Errorf("offset %d: %w (the log holds %d to %d)", r.at, kafka.OffsetOutOfRange, first, end)
}

// checkEnd continues at the end of a log that ends before the position. Reading from the
// log's start would count records twice. A recreated topic has another id, and begins at
// its start under another claim.
func (r *reader) checkEnd(ctx context.Context, first, end int64) error {
	if err := r.sameTopic(ctx); err != nil {
		return err
	}
	if r.lossCheck.end != end { // the end still moves: after an election it may lag behind the log
		r.lossCheck = lossCheck{end: end}
	}
	switch {
	case !r.lossCheck.confirm(r.at):
		return fmt.Errorf("offset %d: %w (the log holds %d to %d)", r.at, kafka.OffsetOutOfRange, first, end)
	case r.identity.topic == (topicID{}):
		return r.recordLoss(ctx, end, reasonShorter)
	}
	return r.recordLoss(ctx, end, reasonCut)
}

// cut moves the position back to the offset at which the leader's log diverges.
func (r *reader) cut(ctx context.Context, at int64) error {
	if !r.lossCheck.confirm(r.at) {
		return fmt.Errorf("offset %d: the log was cut at %d", r.at, at)
	}
	return r.recordLoss(ctx, at, reasonCut)
}

// sameTopic returns errAnotherTopic if the topic is no longer the claimed one.
func (r *reader) sameTopic(ctx context.Context) error {
	found, err := r.requestIdentity(ctx)
	if err != nil {
		return err
	}
	r.checked = time.Now()
	if found.differs(r.identity) {
		return errAnotherTopic
	}
	return nil
}

// skipCorrupt fetches a corrupt batch again, and records it as a gap if it stays corrupt.
// If the batch has no credible end, the reader tries offsets at growing distances until it
// finds a readable batch.
func (r *reader) skipCorrupt(ctx context.Context, c *recordbatch.CorruptError, end int64) error {
	if !r.lossCheck.confirm(c.From) {
		return c
	}
	to := c.To
	if to == 0 {
		r.lossCheck.step = max(1, 2*r.lossCheck.step)
		to = c.From + r.lossCheck.step
	}
	return r.recordLoss(ctx, max(c.From+1, min(to, end)), reasonCorrupt+c.Reason)
}

// recordLoss records the records between the position and to as a gap, and moves the
// position to its end.
func (r *reader) recordLoss(ctx context.Context, to int64, reason string) error {
	g := sample.Gap{
		From: strconv.FormatInt(r.at, 10), To: strconv.FormatInt(to, 10),
		Since: fromMilli(r.newest), Until: fromMilli(r.timeAt(ctx, to)), Reason: reason,
	}
	if err := r.handle.Gap(ctx, g); err != nil {
		return source.FromSink(fmt.Errorf("record a gap: %w", err))
	}
	r.source.gaps.WithLabelValues(r.topic).Inc()
	r.source.log.Error("samples are lost", "partition", r.name, "from", g.From, "to", g.To, "reason", reason)
	r.at, r.epoch = to, -1
	return nil
}

// timeAt returns the time of the first record at an offset or later, in Unix milliseconds;
// 0 if there is none, or the broker fails.
func (r *reader) timeAt(ctx context.Context, offset int64) int64 {
	res, err := r.fetch(ctx, offset, time.Millisecond)
	if err != nil {
		return 0
	}
	defer res.release()
	if res.ErrorCode != 0 {
		return 0
	}
	decoder := res.decode(offset, r.source.config.MaxBatchBytes)
	for {
		c, err := decoder.Next()
		if err != nil {
			return 0
		}
		if len(c.Records) > 0 {
			return c.Records[0].Time
		}
	}
}

// fromMilli returns the time of Unix milliseconds, and the zero time for 0.
func fromMilli(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
