package heatmap

import (
	"context"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// maxDistinctMinutes is over how many minutes distinct keys are counted: each is a sketch of
// its own.
const maxDistinctMinutes = 180

// KeysNumber estimates the distinct keys of a map's time.
func KeysNumber(ctx context.Context, st *store.Store, m *chart.Map) (Number, error) {
	n := Number{Name: "Keys requested", Value: unknown, Text: fmt.Sprintf("known for times up to %d hours", maxDistinctMinutes/60)}
	q := store.CardinalityQuery{Target: m.Target, From: m.From.Truncate(time.Minute), To: m.To, Limit: maxDistinctMinutes + 1}
	if m.To.Sub(q.From) > maxDistinctMinutes*time.Minute {
		return n, nil
	}
	rows, err := st.Cardinalities(ctx, q)
	if err != nil || len(rows) == 0 {
		return n, err
	}
	var all sketch.Cardinality
	for _, row := range rows {
		minute, err := sketch.CardinalityFromBytes(row.Registers)
		if err != nil {
			return n, fmt.Errorf("stored cardinality of %s at %s: %w", row.Name(), row.Minute, err)
		}
		all.Join(minute)
	}
	n.Value, n.Text = "about "+wording.Significant(float64(int64(all.Estimate()))), "distinct keys"
	return n, nil
}
