package store

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Cardinality is how many distinct keys a table or index saw in one minute of
// event time, as the registers of a HyperLogLog.
type Cardinality struct {
	sample.Target
	Minute time.Time
	// Registers are the sketch in its own form; a Judge replaces them whole.
	Registers []byte
}

// CardinalityQuery chooses the minutes of one table or index.
type CardinalityQuery struct {
	sample.Target
	// From and To bound the minute, From inclusive, To exclusive; zero is
	// open.
	From, To time.Time
	Limit    int
}

// Cardinalities returns the minutes that a query chooses, in the order of
// time.
func (s *Store) Cardinalities(ctx context.Context, q CardinalityQuery) ([]Cardinality, error) {
	return ofOne(s.EachCardinalities(ctx, []CardinalityQuery{q}))
}

// EachCardinalities returns the minutes that each of some queries chooses.
func (s *Store) EachCardinalities(ctx context.Context, all []CardinalityQuery) ([][]Cardinality, error) {
	each := make([][]any, len(all))
	for i, q := range all {
		each[i] = targetArgs(q.Target, utc(q.From), orForever(q.To), limit(q.Limit))
	}
	return listEach(ctx, s, "read cardinalities", func(c *Cardinality) []any {
		return append(targetFields(&c.Target), &c.Minute, &c.Registers)
	}, `
		SELECT `+targetColumns+`, minute, registers FROM cardinalities AS c JOIN targets AS t ON t.id = c.target
		WHERE `+isTarget+` AND minute >= $5 AND minute < $6
		ORDER BY minute LIMIT $7`, each)
}

func (t *tx) putCardinality(ctx context.Context, all []Cardinality, ids targetIDs) error {
	return insertAll(ctx, t, `INSERT INTO cardinalities (target, minute, registers, updated)`, `
		ON CONFLICT (target, minute) DO UPDATE
		SET registers = excluded.registers, updated = excluded.updated`, all, func(c Cardinality) []any {
		return []any{ids.id(c.Target), utc(c.Minute), present(c.Registers), t.now}
	})
}
