package heatmap

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// Contributor Insights' own bounds of MaxContributorCount.
const (
	defaultCount = 10
	maxCount     = 100
)

// MaxDistinctMinutes is over how many minutes distinct keys are counted: each is a sketch of its
// own.
const MaxDistinctMinutes = 180

// ContributorReport lists the keys of a table with the most load in the form of
// CloudWatch's GetInsightRuleReport, so that a reader of Contributor Insights' reports can
// read Keyheat's. Values are units of the listed keys: lower bounds where a key was not
// among the hottest all the time. The shards of one key are one contributor. Unknown
// fields are absent.
type ContributorReport struct {
	KeyLabels            []string
	AggregationStatistic string
	// AggregateValue is the sum of all known contributors, including unlisted ones.
	AggregateValue float64
	// ApproximateUniqueCount is about how many keys there were; nil, and left out, where that
	// is not stored, or the time is longer than three hours.
	ApproximateUniqueCount *int64 `json:",omitempty"`
	// Contributors are in descending order.
	Contributors []Contributor
}

// Contributor is a key.
type Contributor struct {
	Keys                      []sample.Text
	ApproximateAggregateValue float64
	// Datapoints are the nonzero points, in the order of time.
	Datapoints []ContributorPoint
}

// ContributorPoint is a period of a contributor, from Timestamp on.
type ContributorPoint struct {
	Timestamp        time.Time
	ApproximateValue float64
}

// ParseContributorCount reads how many contributors an address asks for.
func ParseContributorCount(values url.Values) (int, error) {
	return parseNumber(values, "max_contributors", defaultCount, maxCount)
}

// LoadContributors returns the report of so many contributors of the time and table of a
// map; of writes if the map names no dimension.
func LoadContributors(ctx context.Context, st *store.Store, q Query, most int) (*ContributorReport, error) {
	q.What, q.Rows = cmp.Or(q.What, Write), math.MaxInt
	m, err := Load(ctx, st, q)
	if err != nil {
		return nil, err
	}
	r := &ContributorReport{KeyLabels: []string{"PartitionKey"}, AggregationStatistic: "Sum", Contributors: []Contributor{}}
	for i := range m.Rows {
		c := rankContributor(m, &m.Rows[i])
		if r.AggregateValue += c.ApproximateAggregateValue; c.ApproximateAggregateValue > 0 {
			r.Contributors = append(r.Contributors, c)
		}
	}
	slices.SortStableFunc(r.Contributors, func(a, b Contributor) int {
		return cmp.Compare(b.ApproximateAggregateValue, a.ApproximateAggregateValue)
	})
	r.Contributors = r.Contributors[:min(most, len(r.Contributors))]
	r.AggregateValue = tenth(r.AggregateValue)
	r.ApproximateUniqueCount, err = CountDistinct(ctx, st, m)
	return r, err
}

func rankContributor(m *Map, row *Row) Contributor {
	c := Contributor{Keys: []sample.Text{row.Key}, Datapoints: make([]ContributorPoint, 0, len(row.Cells))}
	for _, cell := range row.Cells {
		value := cell.Sum
		if m.What == Throttled {
			value *= cell.Refused / 100
		}
		if value = tenth(value); value > 0 {
			c.ApproximateAggregateValue += value
			c.Datapoints = append(c.Datapoints, ContributorPoint{m.ColumnTime(cell.Column), value})
		}
	}
	c.ApproximateAggregateValue = tenth(c.ApproximateAggregateValue)
	return c
}

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
