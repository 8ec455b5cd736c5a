package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// topContributor Insights' own bounds of MaxContributorCount.
const (
	defaultCount = 10
	maxCount     = 100
)

// maxMinutes is over how many minutes distinct keys are counted: each is a sketch of its
// own.
const maxMinutes = 180

// contributorReport lists the keys of a table with the most load in the form of
// CloudWatch's GetInsightRuleReport, so that a reader of Contributor Insights' reports can
// read Keyheat's. Values are units of the listed keys: lower bounds where a key was not
// among the hottest all the time. The shards of one key are one contributor. Unknown
// fields are absent.
type contributorReport struct {
	KeyLabels            []string
	AggregationStatistic string
	// AggregateValue is the sum of all known contributors, including unlisted ones.
	AggregateValue float64
	// ApproximateUniqueCount is about how many keys there were; nil, and left out, where that
	// is not stored, or the time is longer than three hours.
	ApproximateUniqueCount *int64 `json:",omitempty"`
	// Contributors are in descending order.
	Contributors []topContributor
}

// topContributor is a key.
type topContributor struct {
	Keys                      []string
	ApproximateAggregateValue float64
	// Datapoints are the nonzero points, in the order of time.
	Datapoints []contributorPoint
}

// contributorPoint is a period of a contributor, from Timestamp on.
type contributorPoint struct {
	Timestamp        time.Time
	ApproximateValue float64
}

// contributorStore holds the rows behind a report; *store.Store has it.
type contributorStore interface {
	heatmap.Store
	Cardinalities(ctx context.Context, q store.CardinalityQuery) ([]store.Cardinality, error)
}

// parseContributorCount reads how many contributors an address asks for.
func parseContributorCount(values url.Values) (int, error) {
	text := values.Get("max_contributors")
	if text == "" {
		return defaultCount, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxCount {
		return 0, fmt.Errorf("max_contributors %q: give a number from 1 to %d", text, maxCount)
	}
	return n, nil
}

// loadContributors returns the report of so many contributors of the time and table of a
// map; of writes if the map names no dimension.
func loadContributors(ctx context.Context, st contributorStore, q heatmap.Query, most int) (*contributorReport, error) {
	q.What, q.Rows = cmp.Or(q.What, heatmap.Write), math.MaxInt
	m, err := heatmap.Load(ctx, st, q)
	if err != nil {
		return nil, err
	}
	r := &contributorReport{KeyLabels: []string{"PartitionKey"}, AggregationStatistic: "Sum", Contributors: []topContributor{}}
	for i := range m.Rows {
		c := rankContributor(m, &m.Rows[i])
		if r.AggregateValue += c.ApproximateAggregateValue; c.ApproximateAggregateValue > 0 {
			r.Contributors = append(r.Contributors, c)
		}
	}
	slices.SortStableFunc(r.Contributors, func(a, b topContributor) int {
		return cmp.Compare(b.ApproximateAggregateValue, a.ApproximateAggregateValue)
	})
	r.Contributors = r.Contributors[:min(most, len(r.Contributors))]
	r.AggregateValue = roundTenth(r.AggregateValue)
	r.ApproximateUniqueCount, err = countDistinct(ctx, st, m)
	return r, err
}

func rankContributor(m *heatmap.Map, row *heatmap.Row) topContributor {
	c := topContributor{Keys: []string{row.Key}, Datapoints: make([]contributorPoint, 0, len(row.Cells))}
	for _, cell := range row.Cells {
		value := cell.Sum
		if m.What == heatmap.Throttled {
			value *= cell.Refused / 100
		}
		if value = roundTenth(value); value > 0 {
			c.ApproximateAggregateValue += value
			c.Datapoints = append(c.Datapoints, contributorPoint{m.ColumnTime(cell.Column), value})
		}
	}
	c.ApproximateAggregateValue = roundTenth(c.ApproximateAggregateValue)
	return c
}

// unique estimates the distinct keys of a map's time.
func countDistinct(ctx context.Context, st contributorStore, m *heatmap.Map) (*int64, error) {
	q := store.CardinalityQuery{Target: m.Target, From: m.From.Truncate(time.Minute), To: m.To, Limit: maxMinutes + 1}
	if m.To.Sub(q.From) > maxMinutes*time.Minute {
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

func roundTenth(v float64) float64 { return math.Round(v*10) / 10 }
