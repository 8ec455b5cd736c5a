package heatmap

import (
	"context"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// MaxDistinctMinutes is over how many minutes distinct keys are counted: each is a sketch of its
// own.
const MaxDistinctMinutes = 180

// CountDistinct estimates the distinct keys of a map's time.
func CountDistinct(ctx context.Context, st *store.Store, m *Map) (*int64, error) {
	q := store.CardinalityQuery{Target: m.Target, From: m.From.Truncate(time.Minute), To: m.To, Limit: MaxDistinctMinutes + 1}
	if m.To.Sub(q.From) > MaxDistinctMinutes*time.Minute {
		return nil, nil
	}
	rows, err := st.Cardinalities(ctx, q)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var all sketch.Cardinality
	for _, row := range rows {
		minute, err := sketch.CardinalityFromBytes(row.Registers)
		if err != nil {
			return nil, fmt.Errorf("stored cardinality of %s at %s: %w", row.Name(), row.Minute, err)
		}
		all.Join(minute)
	}
	return new(int64(all.Estimate())), nil
}
