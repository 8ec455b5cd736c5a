package store

import (
	"context"
	"maps"
	"slices"
)

// Cursors are the persisted cursors, writer to sequence number: every delta up
// to it is wholly in windows that are written. A judge that starts reads on
// from here.
func (s *Store) Cursors(ctx context.Context) (map[string]int64, error) {
	type cursor struct {
		writer string
		seq    int64
	}
	all, err := list(ctx, s, "read cursors", func(c *cursor) []any { return []any{&c.writer, &c.seq} }, `SELECT writer, seq FROM cursors`)
	cursors := make(map[string]int64, len(all))
	for _, c := range all {
		cursors[c.writer] = c.seq
	}
	return cursors, err
}

func (t *tx) putCursors(ctx context.Context, cursors map[string]int64) error {
	return insertAll(ctx, t, `INSERT INTO cursors (writer, seq, advanced)`, `
		ON CONFLICT (writer) DO UPDATE SET seq = excluded.seq, advanced = excluded.advanced
		WHERE cursors.seq < excluded.seq`, slices.Sorted(maps.Keys(cursors)), func(writer string) []any {
		return []any{writer, cursors[writer], t.now}
	})
}
