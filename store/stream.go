package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"
	"unicode/utf8"
)

// RegisterShards records shards of a stream, each with its position at First. Its
// watermark starts at the watermark of the shard before it, whose records are all older,
// or at Beginning if that shard has ended or there is none. Known shards are left alone.
// Register the children before the end of their parent is committed: then no second is
// complete before they were read. listed means that all shards of the stream were listed,
// which also keeps waiting shards from being forgotten.
func (s *Store) RegisterShards(ctx context.Context, source, stream string, all []NewShard, listed bool) error {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b NewShard) int {
		return PartitionID{source, a.Name}.compare(PartitionID{source, b.Name})
	})
	return s.change(ctx, "register shards of "+stream, func(t *tx) error {
		if err := t.register(ctx, source, stream, all); err != nil || !listed {
			return err
		}
		err := t.run(ctx, `
			INSERT INTO streams (source, stream, listed) VALUES ($1, $2, $3)
			ON CONFLICT (source, stream) DO UPDATE SET listed = excluded.listed`, source, stream, t.now)
		if err != nil {
			return err
		}
		return t.refreshSeen(ctx, source, stream)
	})
}

func (t *tx) register(ctx context.Context, source, stream string, all []NewShard) error {
	shards, positions, marks := make([][]any, len(all)), make([][]any, len(all)), make([][]any, len(all))
	for i, n := range all {
		shards[i] = []any{source, n.Name, stream, n.After, "", utc(n.UnseenSince), t.now}
		positions[i] = []any{source, n.Name, n.First, 0, false, "", t.now}
		marks[i] = []any{source, n.Name, 0, "", Beginning, 0, t.now, t.now}
	}
	// Positions first, as in Commit.
	for _, into := range []struct {
		verb string
		rows [][]any
	}{
		{`INSERT INTO positions (source, name, next_offset, epoch, ended, writer, moved)`, positions},
		{`INSERT INTO watermarks (source, name, epoch, writer, watermark, lag, moved, seen)`, marks},
		{`INSERT INTO shards (source, name, stream, after, owner, unseen_since, found)`, shards},
	} {
		if err := t.insert(ctx, into.verb, `ON CONFLICT (source, name) DO NOTHING`, into.rows); err != nil {
			return err
		}
	}
	return t.run(ctx, `
		UPDATE watermarks SET watermark = (
			SELECT w.watermark FROM shards AS s
			JOIN watermarks AS w ON w.source = s.source AND w.name = s.after
			WHERE s.source = watermarks.source AND s.name = watermarks.name)
		WHERE source = $1 AND epoch = 0 AND watermark = $2 AND EXISTS (
			SELECT 1 FROM shards AS s
			JOIN watermarks AS w ON w.source = s.source AND w.name = s.after
			WHERE s.source = watermarks.source AND s.name = watermarks.name
				AND s.stream = $3 AND s.found = $4 AND w.watermark < $5)`,
		source, Beginning, stream, t.now, Infinity)
}

// refreshSeen keeps the judge from forgetting shards that wait for their turn, which may
// be hours while a backlog is read.
func (t *tx) refreshSeen(ctx context.Context, source, stream string) error {
	return t.run(ctx, `
		UPDATE watermarks SET seen = $1
		WHERE source = $2 AND watermark < $3 AND seen < $4 AND EXISTS (
			SELECT 1 FROM shards AS s
			WHERE s.source = watermarks.source AND s.name = watermarks.name AND s.stream = $5)`,
		t.now, source, Infinity, utc(t.now.Add(-time.Minute)), stream)
}

// Lineage returns the known state of a stream, by the clock of the database. Shards that
// ended longer ago than Retention.Shards are forgotten.
func (s *Store) Lineage(ctx context.Context, source, stream string) (Stream, error) {
	var l Stream
	err := s.snapshot(ctx, "read the shards of "+stream, func(t *tx) error {
		err := t.QueryRowContext(ctx, `SELECT listed FROM streams WHERE source = $1 AND stream = $2`,
			source, stream).Scan(&l.Listed)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		l.Names, err = selectAll(ctx, t, singleColumn[string], `
			SELECT name FROM shards WHERE source = $1 AND stream = $2 ORDER BY name`, source, stream)
		return err
	})
	return l, err
}

// LastListed returns when all shards of a stream whose name has this prefix were
// listed last; zero when there is none.
func (s *Store) LastListed(ctx context.Context, source, prefix string) (time.Time, error) {
	last, err := first(list(ctx, s, "read when "+prefix+" was listed last", singleColumn[time.Time], `
		SELECT listed FROM streams
		WHERE source = $1 AND substr(stream, 1, $2) = $3 ORDER BY listed DESC LIMIT 1`,
		source, utf8.RuneCountInString(prefix), prefix))
	return last, unlessMissing(err)
}

// OpenShards are the shards of a source that are not counted to their end, in the order
// of their names. A shard whose predecessor was forgotten is ready: only ended shards are
// forgotten.
func (s *Store) OpenShards(ctx context.Context, source string) ([]Shard, error) {
	var all []Shard
	err := s.snapshot(ctx, "read open shards", func(t *tx) (err error) {
		all, err = selectAll(ctx, t, func(h *Shard) []any {
			return []any{&h.Name, &h.Stream, &h.After, &h.Ready, &h.Owner, &h.Watermark, &h.Found, &h.UnseenSince}
		}, `
			SELECT s.name, s.stream, s.after, COALESCE(before.ended, TRUE), COALESCE(m.member, ''),
				w.watermark, s.found, s.unseen_since
			FROM shards AS s
			JOIN positions AS p ON p.source = s.source AND p.name = s.name
			JOIN watermarks AS w ON w.source = s.source AND w.name = s.name
			LEFT JOIN positions AS before ON before.source = s.source AND before.name = s.after
			LEFT JOIN members AS m ON m.source = s.source AND m.member = s.owner AND m.expires > $2
			WHERE s.source = $1 AND NOT p.ended ORDER BY s.name`, source, t.now)
		return err
	})
	return all, err
}

// TakeShards makes a member the owner of the named shards that have not ended and that no
// living member owns, and returns their names.
func (s *Store) TakeShards(ctx context.Context, source, member string, names []string) ([]string, error) {
	names = slices.Sorted(slices.Values(names))
	var taken []string
	err := s.change(ctx, "take shards", func(t *tx) error {
		taken = nil
		for _, name := range names {
			n, err := t.exec(ctx, `
				UPDATE shards SET owner = $1
				WHERE source = $2 AND name = $3
					AND (owner = $1 OR owner = '' OR NOT EXISTS (
						SELECT 1 FROM members AS m
						WHERE m.source = shards.source AND m.member = shards.owner AND m.expires > $4))
					AND NOT EXISTS (
						SELECT 1 FROM positions AS p
						WHERE p.source = shards.source AND p.name = shards.name AND p.ended)`,
				member, source, name, t.now)
			if err != nil {
				return err
			}
			if n > 0 {
				taken = append(taken, name)
			}
		}
		return nil
	})
	return taken, err
}

// FreeShard lets others take a shard at once. A shard that another member owns by
// now is left alone.
func (s *Store) FreeShard(ctx context.Context, source, member, name string) error {
	return s.change(ctx, "free shard "+name, func(t *tx) error {
		return t.run(ctx, `UPDATE shards SET owner = '' WHERE source = $1 AND name = $2 AND owner = $3`,
			source, name, member)
	})
}
