package store

import (
	"context"
	"time"
)

// memberMemory is how long an expired member's row stays.
const memberMemory = time.Hour

// Attend records that a process that shares the shards of a source is alive, for ttl from
// now, and returns all living ones, in order of their names. A member keeps its shards as
// long as it attends in time. After that any member may take them; the remaining ones are
// its own again when it attends.
func (s *Store) Attend(ctx context.Context, source, member string, ttl time.Duration) ([]string, error) {
	var all []string
	err := s.change(ctx, "attend as "+member, func(t *tx) error {
		err := t.run(ctx, `
			INSERT INTO members (source, member, expires) VALUES ($1, $2, $3)
			ON CONFLICT (source, member) DO UPDATE SET expires = excluded.expires`,
			source, member, utc(t.now.Add(ttl)))
		if err != nil {
			return err
		}
		if err := t.run(ctx, `DELETE FROM members WHERE source = $1 AND expires < $2`,
			source, utc(t.now.Add(-memberMemory))); err != nil {
			return err
		}
		all, err = selectAll(ctx, t, singleColumn[string], `
			SELECT member FROM members WHERE source = $1 AND expires > $2 ORDER BY member`, source, t.now)
		return err
	})
	return all, err
}

// Leave ends a membership: other members may take the member's shards at once.
func (s *Store) Leave(ctx context.Context, source, member string) error {
	return s.change(ctx, "leave as "+member, func(t *tx) error {
		if err := t.run(ctx, `UPDATE shards SET owner = '' WHERE source = $1 AND owner = $2`, source, member); err != nil {
			return err
		}
		return t.run(ctx, `DELETE FROM members WHERE source = $1 AND member = $2`, source, member)
	})
}
