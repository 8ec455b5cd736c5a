package store

import (
	"context"
	"slices"
	"time"
)

// The ends of time. Beginning is the watermark of a partition that was claimed and has no
// commit since; Infinity the watermark of a partition that is read to its end and will
// not grow, such as a file or a closed shard.
var (
	Beginning = time.Unix(0, 0).UTC()
	Infinity  = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// SilentAfter is how long a collector may write nothing before it is taken to be
// gone: it writes every few seconds, also when there is nothing to count, and has
// missed four of its reports then.
const SilentAfter = 45 * time.Second

// Watermark is up to where a partition is counted.
type Watermark struct {
	PartitionID
	// Epoch is the claim it was written under; an older claim never overwrites a newer
	// one's watermark.
	Epoch int64
	// Time is the event time before which no record is expected any more.
	Time time.Time
	// Lag is how many messages lie between the position and the log's end.
	Lag int64

	// Writer, Moved and Seen are set when read: who wrote it, and, by the
	// database's clock, when Time last changed and when it was last written.
	Writer      string
	Moved, Seen time.Time
}

// claimWatermark makes a claimed partition known, and keeps writers with an
// older claim from moving it.
func (t *tx) claimWatermark(ctx context.Context, p Position) error {
	return t.run(ctx, `
		INSERT INTO watermarks (source, name, epoch, writer, watermark, lag, moved, seen)
		VALUES ($1, $2, $3, $4, $5, 0, $6, $6)
		ON CONFLICT (source, name) DO UPDATE
		SET epoch = excluded.epoch, writer = excluded.writer, seen = excluded.seen`,
		p.Source, p.Name, p.Epoch, p.Writer, Beginning, t.now)
}

// putWatermarks writes a writer's watermarks in key order. One of an older
// epoch than the stored one changes nothing: its partition is another's. Event
// time that was passed stays passed, also for a reader that begins anew a little
// before it.
func (t *tx) putWatermarks(ctx context.Context, writer string, marks []Watermark) error {
	marks = slices.Clone(marks)
	slices.SortFunc(marks, func(a, b Watermark) int { return a.compare(b.PartitionID) })
	return insertAll(ctx, t, `INSERT INTO watermarks (source, name, epoch, writer, watermark, lag, moved, seen)`, `
		ON CONFLICT (source, name) DO UPDATE
		SET epoch = excluded.epoch, writer = excluded.writer, lag = excluded.lag, seen = excluded.seen,
			watermark = CASE WHEN watermarks.watermark >= excluded.watermark
				THEN watermarks.watermark ELSE excluded.watermark END,
			moved = CASE WHEN watermarks.watermark >= excluded.watermark
				THEN watermarks.moved ELSE excluded.moved END
		WHERE watermarks.epoch <= excluded.epoch`, marks, func(w Watermark) []any {
		return []any{w.Source, w.Name, w.Epoch, writer, utc(w.Time), w.Lag, t.now, t.now}
	})
}

func (w *Watermark) fields() []any {
	return []any{&w.Source, &w.Name, &w.Epoch, &w.Writer, &w.Time, &w.Lag, &w.Moved, &w.Seen}
}

// Watermarks are the watermarks of all known partitions, in key order, without the ones of
// [Push] whose collector is gone. A judge takes them from Read instead, which reads them and
// the deltas of one state.
func (s *Store) Watermarks(ctx context.Context) (all []Watermark, err error) {
	err = s.snapshot(ctx, "read watermarks", func(t *tx) error {
		all, err = t.watermarks(ctx)
		return err
	})
	return all, err
}

func (t *tx) watermarks(ctx context.Context) ([]Watermark, error) {
	return selectAll(ctx, t, (*Watermark).fields, `
		SELECT source, name, epoch, writer, watermark, lag, moved, seen
		FROM watermarks WHERE source <> $1 OR seen >= $2 ORDER BY source, name`, Push, utc(t.now.Add(-SilentAfter)))
}
