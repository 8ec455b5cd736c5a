package store

import (
	"context"
	"time"
)

// TableFacts are what DescribeTable returns of a table, as JSON. Writer and reader
// agree on its form.
type TableFacts struct {
	Table string
	JSON  []byte
	// Updated is when it was written, by the database's clock.
	Updated time.Time
}

// PutTableFacts writes the facts of a table over what was there.
func (s *Store) PutTableFacts(ctx context.Context, table string, facts []byte) error {
	return s.change(ctx, "put the facts of "+table, func(t *tx) error {
		_, err := t.exec(ctx, `
			INSERT INTO table_facts (table_name, facts, updated) VALUES ($1, $2, $3)
			ON CONFLICT (table_name) DO UPDATE SET facts = excluded.facts, updated = excluded.updated`,
			clean(table), clean(string(facts)), t.now)
		return err
	})
}

// TableFacts are those of all tables, in the order of their names.
func (s *Store) TableFacts(ctx context.Context) ([]TableFacts, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT table_name, facts, updated FROM table_facts ORDER BY table_name`)
	if err != nil {
		return nil, wrap(ctx, "read table facts", err)
	}
	all, err := collect(rows, func(f *TableFacts) []any { return []any{&f.Table, &f.JSON, &f.Updated} })
	return all, wrap(ctx, "read table facts", err)
}
