package judge

import (
	"context"
	"maps"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/sample"
)

// uses are the indexes' consumption over days, by CloudWatch.
type uses map[sample.Target]use

// use is one index's consumption, by day.
type use struct {
	loaded time.Time // when, by the database's clock
	days   map[time.Time]corroboration.Use
}

const (
	useEvery = time.Hour
	day      = 24 * time.Hour
	// wholeUses is of how many indexes one pass loads all days: a judge that takes over
	// must not wait for them.
	wholeUses = 4
)

// load loads an index's consumption when it is time: all days the first time, and then
// the days that may have changed. all reports that it has loaded all days.
func (u uses) load(ctx context.Context, st Store, at sample.Target, now time.Time) (all bool, err error) {
	of, known := u[at]
	if known && now.Sub(of.loaded) < useEvery {
		return false, nil
	}
	oldest := now.UTC().Add(-corroboration.UseSpan).Truncate(day)
	from := oldest
	if known {
		from = of.loaded.UTC().Add(-corroboration.Span * time.Minute).Truncate(day) // late data points raise earlier minutes
	}
	minutes, err := st.CloudWatchMinutes(ctx, at, from)
	if err != nil {
		return false, err
	}
	days := make(map[time.Time]corroboration.Use)
	for begin, sum := range of.days {
		if !begin.Before(oldest) && begin.Before(from) {
			days[begin] = sum
		}
	}
	for _, m := range minutes {
		metrics := make(map[detect.Metric]float64, len(m.Metrics))
		for name, v := range m.Metrics {
			metrics[detect.Metric(name)] = v
		}
		begin := m.Minute.UTC().Truncate(day)
		sum := days[begin]
		sum.Add(m.Minute, metrics)
		days[begin] = sum
	}
	u[at] = use{now, days}
	return !known, nil
}

// sum is the consumption of all days.
func (u use) sum() (all corroboration.Use) {
	for sum := range maps.Values(u.days) {
		all.Join(sum)
	}
	return all
}
