package store

import (
	"context"
)

// Group is a set of incidents with common messages to a receiver.
type Group struct {
	ID, Receiver string
	// Document is the whole group as JSON; nil for an ended one, which is not kept.
	Document []byte
}

// Groups returns the groups that are not over.
func (s *Store) Groups(ctx context.Context) ([]Group, error) {
	return list(ctx, s, "read groups of incidents", func(g *Group) []any { return []any{&g.ID, &g.Receiver, &g.Document} },
		`SELECT id, receiver, document FROM notification_groups ORDER BY id`)
}

func (t *tx) putGroups(ctx context.Context, all []Group, _ targetIDs) error {
	var kept []Group
	var over []statement
	for _, g := range all {
		if g.Document != nil {
			kept = append(kept, g)
		} else {
			over = append(over, statement{`DELETE FROM notification_groups WHERE id = $1`, []any{g.ID}})
		}
	}
	if len(over) > 0 {
		if err := t.runAll(ctx, over); err != nil {
			return err
		}
	}
	return insertAll(ctx, t, `INSERT INTO notification_groups (id, receiver, document, updated)`, `
		ON CONFLICT (id) DO UPDATE SET document = excluded.document, updated = excluded.updated`,
		kept, func(g Group) []any { return []any{g.ID, g.Receiver, clean(string(g.Document)), t.now} })
}
