package store

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// TableFacts are DescribeTable's facts about a table, as JSON. Writer and reader agree on
// its form.
type TableFacts struct {
	sample.Target
	JSON []byte
	// Updated is when it was written, by the database's clock.
	Updated time.Time
}

// PutTableFacts replaces the facts of a table.
func (s *Store) PutTableFacts(ctx context.Context, at sample.Target, facts []byte) error {
	return s.change(ctx, "put the facts of "+at.Name(), func(t *tx) error {
		ids, err := t.targets(ctx, map[sample.Target]bool{at: true})
		if err != nil {
			return err
		}
		return t.run(ctx, `
			INSERT INTO table_facts (target, facts, updated) VALUES ($1, $2, $3)
			ON CONFLICT (target) DO UPDATE SET facts = excluded.facts, updated = excluded.updated`,
			ids.id(at), clean(string(facts)), t.now)
	})
}

// TableFacts returns the facts of all tables, in the order of their names.
func (s *Store) TableFacts(ctx context.Context) ([]TableFacts, error) {
	return list(ctx, s, "read table facts", func(f *TableFacts) []any {
		return append(targetFields(&f.Target), &f.JSON, &f.Updated)
	}, `
		SELECT `+targetColumns+`, facts, updated FROM table_facts AS f JOIN targets AS t ON t.id = f.target
		ORDER BY t.table_name, t.account, t.region`)
}
