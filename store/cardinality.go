package store

import (
	"context"
	"time"
)

// Cardinality is how many distinct keys a table or index saw in one minute of
// event time, as the registers of a HyperLogLog.
type Cardinality struct {
	// Table and Index name the target; Index is empty for the table itself.
	Table, Index string
	// Minute is the minute's beginning.
	Minute time.Time
	// Registers are the sketch in its own form; a Judge replaces them whole.
	Registers []byte
}

// CardinalityQuery chooses the minutes of one table or index.
type CardinalityQuery struct {
	Table, Index string
	// From and To bound the minute, From inclusive, To exclusive; zero is
	// open.
	From, To time.Time
	// Limit is the most minutes to return, 0 for DefaultLimit.
	Limit int
}

// Cardinalities returns the minutes that a query chooses, in the order of
// time.
func (s *Store) Cardinalities(ctx context.Context, q CardinalityQuery) ([]Cardinality, error) {
	rows, err := s.read.QueryContext(ctx, `
		SELECT table_name, index_name, minute, registers FROM cardinalities
		WHERE table_name = $1 AND index_name = $2 AND minute >= $3 AND minute < $4
		ORDER BY minute LIMIT $5`,
		clean(q.Table), clean(q.Index), utc(q.From), until(q.To), limit(q.Limit))
	if err != nil {
		return nil, wrap(ctx, "read cardinalities", err)
	}
	all, err := collect(rows, func(c *Cardinality) []any {
		return []any{&c.Table, &c.Index, &c.Minute, &c.Registers}
	})
	return all, wrap(ctx, "read cardinalities", err)
}

func (t *tx) putCardinality(ctx context.Context, all []Cardinality) error {
	rows := make([][]any, len(all))
	for i, c := range all {
		rows[i] = []any{clean(c.Table), clean(c.Index), utc(c.Minute), present(c.Registers), t.now}
	}
	return t.insert(ctx, `INSERT INTO cardinalities (table_name, index_name, minute, registers, updated)`, `
		ON CONFLICT (table_name, index_name, minute) DO UPDATE
		SET registers = excluded.registers, updated = excluded.updated`, rows)
}
