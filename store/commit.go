package store

import (
	"context"
	"fmt"
	"time"
)

// Commit holds a collector's samples since its last commit. It is stored as a whole or
// not at all.
type Commit struct {
	// Writer and Seq name the commit. Seq rises with every Commit of a writer,
	// whether or not it has a body; the first is 1.
	Writer string
	Seq    int64
	// After is the newest commit of the writer that the caller knows to be stored; 0
	// for none.
	After int64
	// Version is the form of Body; Body the delta itself, already compressed.
	// A nil Body writes no delta and only moves positions and watermarks.
	Version int
	Body    []byte
	// First is the earliest event-time second in Body, in Unix seconds; 0 where it is
	// not known.
	First int64
	// Moves are the positions that the delta covers, each partition once.
	Moves []Move
	// Watermarks are the watermarks of every partition that the writer owns, idle ones
	// too, each once.
	Watermarks []Watermark
	// Gaps and Bad are the lost and the rejected samples.
	Gaps []Gap
	Bad  []BadSample
	// Keys replace what shards of streams delivered, each once.
	Keys []ShardKeys
}

// Commit writes a delta and moves the positions it covers, in one transaction.
//
// It fails with a *FencedError (ErrFenced) when any position was not where the caller
// believed or not the caller's: nothing is stored then, for no partition, and the caller
// has to discard its samples and read them again. It fails with ErrDuplicate when the
// writer has committed this Seq or a later one already, and with ErrWentBack when the
// database no longer holds the commit After: it was set back to an earlier state, so that
// every position has to be read again. After ErrAmbiguous, call IsCommitted before
// anything else.
func (s *Store) Commit(ctx context.Context, c Commit) error {
	if err := c.check(); err != nil {
		return err
	}
	err := s.change(ctx, fmt.Sprintf("commit %s/%d", c.Writer, c.Seq), func(t *tx) error {
		return t.commit(ctx, c)
	})
	if err == nil {
		s.notify(ctx)
	}
	return err
}

// IsCommitted reports whether a writer's commit is stored: the remedy for
// ErrAmbiguous. It is certain, because a COMMIT that is still in flight holds
// the writer's row, and Committed waits for its end.
func (s *Store) IsCommitted(ctx context.Context, writer string, seq int64) (bool, error) {
	var last int64
	err := s.change(ctx, fmt.Sprintf("check commit %s/%d", writer, seq), func(t *tx) error {
		// A select would not wait, and an update would not see the row that a first
		// commit is about to insert.
		return t.QueryRowContext(ctx, `
			INSERT INTO writers (writer, host, started, stopped, seen, last_seq, last_delta)
			VALUES ($1, '', $2, $3, $2, 0, 0)
			ON CONFLICT (writer) DO UPDATE SET seen = excluded.seen
			RETURNING last_seq`, writer, t.now, utc(time.Time{})).Scan(&last)
	})
	return err == nil && last >= seq, err
}

func (c Commit) check() error {
	if c.Writer == "" || c.Seq < 1 {
		return fmt.Errorf("commit %q/%d: it needs a writer and a sequence number from 1", c.Writer, c.Seq)
	}
	return nil
}

func (t *tx) commit(ctx context.Context, c Commit) error {
	previous, promised, err := t.advanceWriter(ctx, c)
	if err != nil {
		return err
	}
	if err := t.move(ctx, c.Writer, c.Moves); err != nil {
		return err
	}
	if err := t.putWatermarks(ctx, c.Writer, c.Watermarks); err != nil {
		return err
	}
	if err := t.putDelta(ctx, c, previous, promised); err != nil {
		return err
	}
	if err := t.putGaps(ctx, c.Writer, c.Gaps); err != nil {
		return err
	}
	if err := t.putShardKeys(ctx, c.Keys); err != nil {
		return err
	}
	return t.putBad(ctx, c.Writer, c.Bad)
}

// advanceWriter records the commit's number: once, and never below an earlier one. The
// writer's row is locked from here to the end of the transaction. It returns the number
// of the writer's delta before, and the event time up to which all of the writer's
// partitions were counted before.
func (t *tx) advanceWriter(ctx context.Context, c Commit) (previous int64, promised time.Time, err error) {
	var last int64
	var mark orZero
	err = t.QueryRowContext(ctx, `
		INSERT INTO writers (writer, host, started, stopped, seen, last_seq, last_delta)
		VALUES ($1, '', $2, $3, $2, 0, 0)
		ON CONFLICT (writer) DO UPDATE SET seen = excluded.seen
		RETURNING last_seq, last_delta,
			(SELECT w.watermark FROM watermarks AS w WHERE w.writer = $1 ORDER BY w.watermark LIMIT 1)`,
		c.Writer, t.now, utc(time.Time{})).Scan(&last, &previous, &mark)
	switch {
	case err != nil:
		return 0, promised, err
	case last >= c.Seq:
		return 0, promised, ErrDuplicate
	case last < c.After:
		return 0, promised, fmt.Errorf("commit %d is the newest, after %d: %w", last, c.After, ErrWentBack)
	}
	delta := previous
	if c.Body != nil {
		delta = c.Seq
	}
	_, err = t.exec(ctx, `UPDATE writers SET last_seq = $1, last_delta = $2 WHERE writer = $3`, c.Seq, delta, c.Writer)
	return previous, time.Time(mark), err
}

// putDelta stores the delta. A sample of a second that was promised before is late: whether
// it was read decides about no second.
func (t *tx) putDelta(ctx context.Context, c Commit, previous int64, promised time.Time) error {
	if c.Body == nil {
		return nil
	}
	since := max(0, c.First, promised.Unix())
	return t.run(ctx, `
		INSERT INTO deltas (writer, seq, version, body, committed, previous, since)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, c.Writer, c.Seq, c.Version, c.Body, t.now, previous, since)
}
