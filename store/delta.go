package store

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// Delta is one collector's sketches from one commit.
type Delta struct {
	Writer  string
	Seq     int64
	Version int
	Body    []byte
	// Previous is the number of the writer's delta before this one, 0 for its first. If it
	// is lower than the number of the delta that was read before, the database went back
	// in between.
	Previous int64
	// Committed is the database's time shortly before its COMMIT.
	Committed time.Time
}

// ReadLimit bounds one Read. Zero fields mean the defaults.
type ReadLimit struct {
	// Deltas is how many are read at most, shared evenly by the writers that have
	// any. If they are fewer than the writers, the writers with the earliest seconds
	// have one each.
	Deltas int
	// Bytes of bodies after which reading stops; the delta that passes it is still read.
	Bytes int
}

// The defaults of ReadLimit.
const (
	defaultReadDeltas = 256
	defaultReadBytes  = 64 << 20
)

func (l ReadLimit) orDefault() ReadLimit {
	return ReadLimit{cmp.Or(max(l.Deltas, 0), defaultReadDeltas), cmp.Or(max(l.Bytes, 0), defaultReadBytes)}
}

// Snapshot is one state of the collectors' rows.
type Snapshot struct {
	// Now is the database's time at the reading.
	Now time.Time
	// Watermarks are the watermarks of all known partitions, in key order; see
	// [Store.Watermarks].
	Watermarks []Watermark
	// Deltas are the ones beyond the cursors, each writer's in the order of their
	// numbers.
	Deltas []Delta
	// Behind reports that the limit left some out. The watermarks promise more
	// than was read then, and must close no second from Unread on, in Unix seconds.
	Behind bool
	Unread int64
}

// Read returns the deltas beyond a cursor for each writer, and the watermarks of the same
// state of the database: every delta that a watermark covers is either read before or in
// Deltas, unless Behind. Writers that are missing in after are read from their first
// delta.
//
// It fails with ErrWentBack when the database lacks a delta that was read from a writer:
// its samples come again. Once the writer has written again, Previous shows it.
//
// Deltas of one writer become visible in the order of their numbers, because a writer has
// one commit in flight at a time. There is no such order between writers, and nothing
// here relies on one.
func (s *Store) Read(ctx context.Context, after map[string]int64, l ReadLimit) (Snapshot, error) {
	var snap Snapshot
	err := s.snapshot(ctx, "read deltas", func(t *tx) (err error) {
		snap = Snapshot{Now: t.now}
		if snap.Watermarks, err = t.watermarks(ctx); err != nil {
			return err
		}
		ahead, err := t.readAhead(ctx, after)
		if err != nil {
			return err
		}
		return t.readDeltas(ctx, &snap, ahead, l.orDefault())
	})
	return snap, err
}

// seqRange is the range of sequence numbers to read of one writer: (after, last].
type seqRange struct {
	writer      string
	after, last int64
	// since is the earliest second of the unread deltas, if it is known.
	since int64
}

func (t *tx) readAhead(ctx context.Context, after map[string]int64) ([]seqRange, error) {
	all, err := selectAll(ctx, t, func(s *seqRange) []any { return []any{&s.writer, &s.last} }, `
		SELECT writer, last_delta FROM writers WHERE last_delta > 0 ORDER BY writer`)
	for i := range all {
		s := &all[i]
		s.after = after[s.writer]
		if s.last < s.after && s.after < math.MaxInt64 {
			return nil, fmt.Errorf("writer %s is at delta %d, of which %d was read: %w", s.writer, s.last, s.after, ErrWentBack)
		}
	}
	return slices.DeleteFunc(all, func(s seqRange) bool { return s.last <= s.after }), err
}

// readDeltas gives every writer its share of the limit. The writers with the earliest
// open seconds come first: seconds then close as soon as they can, and few are open at
// once.
func (t *tx) readDeltas(ctx context.Context, snap *Snapshot, ahead []seqRange, l ReadLimit) error {
	if err := t.sortBySince(ctx, ahead, l); err != nil {
		return err
	}
	for i, s := range ahead {
		left := len(ahead) - i
		if len(snap.Deltas) >= l.Deltas {
			snap.leaveOut(s.since)
			continue
		}
		deltas, err := t.deltas(ctx, s, ReadLimit{
			Deltas: max(1, (l.Deltas-len(snap.Deltas))/left),
			Bytes:  max(1, (l.Bytes-size(snap.Deltas))/left),
		})
		if err != nil {
			return err
		}
		snap.Deltas = append(snap.Deltas, deltas...)
		if n := len(deltas); n > 0 && deltas[n-1].Seq < s.last {
			s.after = deltas[n-1].Seq
			if err := t.readEarliest(ctx, &s); err != nil {
				return err
			}
			snap.leaveOut(s.since)
		}
	}
	return nil
}

func (s *Snapshot) leaveOut(since int64) {
	if !s.Behind || since < s.Unread {
		s.Unread = since
	}
	s.Behind = true
}

// sortBySince orders writers by the earliest second of their unread deltas, if the limit
// may leave any out.
func (t *tx) sortBySince(ctx context.Context, ahead []seqRange, l ReadLimit) error {
	var unread int64
	for _, s := range ahead {
		unread += s.last - s.after
	}
	if unread <= int64(l.Deltas) {
		return nil
	}
	for i := range ahead {
		if err := t.readEarliest(ctx, &ahead[i]); err != nil {
			return err
		}
	}
	slices.SortStableFunc(ahead, func(a, b seqRange) int { return cmp.Compare(a.since, b.since) })
	return nil
}

func (t *tx) readEarliest(ctx context.Context, s *seqRange) error {
	return t.QueryRowContext(ctx, `SELECT coalesce(min(since), 0) FROM deltas WHERE writer = $1 AND seq > $2`, s.writer, s.after).Scan(&s.since)
}

func (t *tx) deltas(ctx context.Context, s seqRange, l ReadLimit) ([]Delta, error) {
	rows, err := t.QueryContext(ctx, `
		SELECT writer, seq, version, body, committed, previous FROM deltas
		WHERE writer = $1 AND seq > $2 ORDER BY seq LIMIT $3`, s.writer, s.after, l.Deltas)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Delta
	for bytes := 0; bytes < l.Bytes && rows.Next(); {
		var d Delta
		if err := rows.Scan(&d.Writer, &d.Seq, &d.Version, &d.Body, &d.Committed, &d.Previous); err != nil {
			return nil, err
		}
		all, bytes = append(all, d), bytes+len(d.Body)
	}
	return all, rows.Err()
}

func size(deltas []Delta) (bytes int) {
	for _, d := range deltas {
		bytes += len(d.Body)
	}
	return bytes
}
