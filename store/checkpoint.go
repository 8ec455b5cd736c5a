package store

import (
	"context"

	"github.com/keyheat/keyheat/sample"
)

// Checkpoint is what a judge remembers of a table or index, or without one what it remembers of
// none. Only the judge reads the body.
type Checkpoint struct {
	sample.Target
	// Version is that of the body's form.
	Version int64
	Body    []byte
}

// Checkpoints returns what the judge last remembered, by name.
func (s *Store) Checkpoints(ctx context.Context) ([]Checkpoint, error) {
	return list(ctx, s, "read the checkpoints", func(c *Checkpoint) []any {
		return append(targetFields(&c.Target), &c.Version, &c.Body)
	}, `
		SELECT `+targetColumns+`, c.version, c.body
		FROM checkpoints AS c JOIN targets AS t ON t.id = c.target
		ORDER BY t.table_name, t.index_name, t.account, t.region`)
}

func (t *tx) putCheckpoints(ctx context.Context, all []Checkpoint, ids targetIDs) error {
	return insertAll(ctx, t, `INSERT INTO checkpoints (target, updated, version, body)`, `
		ON CONFLICT (target) DO UPDATE SET updated = excluded.updated, version = excluded.version, body = excluded.body`, all, func(c Checkpoint) []any {
		return []any{ids.id(c.Target), t.now, c.Version, present(c.Body)}
	})
}
