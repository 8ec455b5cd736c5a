package corroboration_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
)

var (
	began  = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	orders = detect.Target{Table: "orders"}
)

func minuteAt(n int) time.Time { return began.Add(time.Duration(n) * time.Minute) }

// reading returns a reading of n minutes, each with what metrics returns, that the
// samples show whole.
func reading(n int, metrics func(minute int) map[detect.Metric]float64) *corroboration.Reading {
	r := &corroboration.Reading{State: corroboration.Read, Through: minuteAt(n)}
	for i := range n {
		m := metrics(i)
		r.Minutes = append(r.Minutes, corroboration.Minute{At: minuteAt(i), Metrics: m, Sampled: &corroboration.Units{
			Write: m[corroboration.ConsumedWrite], Read: m[corroboration.ConsumedRead],
		}})
	}
	return r
}

// consumed returns the metrics of a minute with this many write units, and more.
func consumed(write float64, more ...any) map[detect.Metric]float64 {
	m := map[detect.Metric]float64{corroboration.ConsumedWrite: write}
	for i := 0; i < len(more); i += 2 {
		m[more[i].(detect.Metric)] = float64(more[i+1].(int))
	}
	return m
}

// hot returns a key's finding over some minutes, with a mean of so many write units.
func hot(from, to int, mean float64) detect.Finding {
	f := detect.NewFinding(detect.KeyWrites, orders, sample.KeyString("a"))
	f.FirstSeen, f.LastSeen = minuteAt(from), minuteAt(to).Add(-time.Second)
	f.Seconds = int64(to-from) * 60
	f.Mean.WCU = detect.Figure{Value: mean, Low: mean, High: mean}
	return f
}

// TestAssess tells what CloudWatch says of a finding of the minutes 10 to 14.
func TestAssess(t *testing.T) {
	t.Parallel()
	quiet := reading(60, func(int) map[detect.Metric]float64 { return consumed(120_000) })
	throttled := func(metrics ...any) *corroboration.Reading {
		return reading(60, func(i int) map[detect.Metric]float64 {
			if i == 12 {
				return consumed(120_000, metrics...)
			}
			return consumed(120_000)
		})
	}
	late := reading(60, func(int) map[detect.Metric]float64 { return consumed(120_000) })
	late.Minutes, late.Through = late.Minutes[:5], minuteAt(5)
	with := func(state corroboration.State, message string) *corroboration.Reading {
		return &corroboration.Reading{State: state, Message: message}
	}
	for name, c := range map[string]struct {
		reading *corroboration.Reading
		mean    float64
		want    detect.Corroborated
		unread  detect.Unread
	}{
		"a partition was full":          {throttled(corroboration.WriteThrottles, 90, corroboration.WriteKeyRangeThrottles, 90), 1200, detect.CloudWatchConfirms, ""},
		"and the table had too little":  {throttled(corroboration.WriteKeyRangeThrottles, 90, corroboration.WriteProvisionedThrottles, 7), 1200, detect.CloudWatchConfirms, ""},
		"the table had too little":      {throttled(corroboration.WriteThrottles, 50, corroboration.WriteProvisionedThrottles, 50), 1200, detect.CloudWatchOtherCause, ""},
		"the account had":               {throttled(corroboration.WriteAccountThrottles, 50), 1200, detect.CloudWatchOtherCause, ""},
		"a cause that was not asked":    {throttled(corroboration.WriteThrottles, 50), 1200, detect.CloudWatchOtherCause, ""},
		"reads were throttled":          {throttled(corroboration.ReadKeyRangeThrottles, 50), 1200, detect.CloudWatchQuiet, ""},
		"nothing was throttled":         {quiet, 1200, detect.CloudWatchQuiet, ""},
		"more than the whole table":     {quiet, 2100, detect.CloudWatchContradicts, ""},
		"as much as the whole table":    {quiet, 2000, detect.CloudWatchQuiet, ""},
		"minutes that are to come":      {late, 1200, detect.CloudWatchNotAssessed, detect.UnreadNotYet},
		"never asked":                   {with("", ""), 1200, detect.CloudWatchNotAssessed, detect.UnreadNotYet},
		"may not be read":               {with(corroboration.Denied, "allow it"), 1200, detect.CloudWatchNotAssessed, detect.UnreadDenied},
		"cannot be reached":             {with(corroboration.Failed, "no route"), 1200, detect.CloudWatchNotAssessed, detect.UnreadFailed},
		"has no table of this name":     {with(corroboration.NoData, ""), 1200, detect.CloudWatchNotAssessed, detect.UnreadNoData},
		"has none of these minutes":     {&corroboration.Reading{State: corroboration.Read, Through: minuteAt(60)}, 1200, detect.CloudWatchNotAssessed, detect.UnreadNoData},
		"failed, but only after it had": {&corroboration.Reading{State: corroboration.Failed, Message: "x", Through: quiet.Through, Minutes: quiet.Minutes}, 1200, detect.CloudWatchQuiet, ""},
	} {
		f := hot(10, 14, c.mean)
		got := corroboration.Assess(&f, c.reading)
		if got.Verdict != c.want || got.Unread != c.unread {
			t.Errorf("%s: %s, %q", name, got.Verdict, got.Unread)
		}
		if (got.Throttles == nil) != (c.want == detect.CloudWatchNotAssessed) {
			t.Errorf("%s: throttles %v", name, got.Throttles)
		}
	}
}

// TestAssessesReads: findings about reads are compared with the metrics of reads, whatever
// they are about.
func TestAssessesReads(t *testing.T) {
	t.Parallel()
	refused := reading(60, func(int) map[detect.Metric]float64 {
		return map[detect.Metric]float64{corroboration.ConsumedRead: 120_000, corroboration.ReadThrottles: 50, corroboration.ReadKeyRangeThrottles: 50}
	})
	for about, unit := range map[any]string{
		detect.KeyReads: "", casebook.OneCaller: "", casebook.MovingSpot: "", casebook.TimeKey: "", casebook.TooFewShards: "",
		detect.SubjectPartition: "rcu", detect.SubjectTable: "rcu",
	} {
		f := scenario.NewFinding(about, orders, sample.KeyString("a"))
		f.FirstSeen, f.LastSeen = minuteAt(10), minuteAt(14)
		if f.Peak.RCU = detect.ExactFigure(4000); unit != "" {
			f.Peak.WCU = detect.ExactFigure(2000) // nearer to its limit, and served
			f.Throttling = &detect.Throttling{From: f.FirstSeen, To: f.LastSeen, Units: 100, Share: 0.1, Unit: unit}
		}
		if got := corroboration.Assess(&f, refused); got.Verdict != detect.CloudWatchConfirms {
			t.Errorf("%s: %s", about, got.Verdict)
		}
	}
}

// TestCoverageOfSampledTraffic holds the estimate to within 2% of the true share, and
// its interval to hold it, for traffic that is sampled at several rates and of which a
// part is not sampled at all.
func TestCoverageOfSampledTraffic(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{1, 0.5, 0.01} {
		for _, share := range []float64{1, 0.34} {
			held, worst := 0, 0.0
			const worlds = 200
			for seed := range uint64(worlds) {
				random := rand.New(rand.NewPCG(seed, 7))
				r := reading(corroboration.Span, func(i int) map[detect.Metric]float64 {
					daily := 1 + 0.5*math.Sin(float64(i)/20)
					return consumed(60 * math.Round(2000*daily))
				})
				for i := range r.Minutes {
					shown := r.Minutes[i].Metrics[corroboration.ConsumedWrite] * share
					// Each request of one unit is drawn by itself: binomial, by its normal limit.
					drawn := shown*rate + math.Sqrt(shown*rate*(1-rate))*random.NormFloat64()
					r.Minutes[i].Sampled = &corroboration.Units{Write: drawn / rate}
				}
				c := corroboration.CoverageOf(r).Write
				if c == nil {
					t.Fatal("180 minutes tell no coverage")
				}
				worst = max(worst, math.Abs(c.Value/share-1))
				if c.Low <= share*(1+1e-9) && share*(1-1e-9) <= c.High {
					held++
				}
			}
			t.Logf("sampled at %g, %g of the load shown: %d of %d intervals hold, the worst estimate is %.2f%% off", rate, share, held, worlds, 100*worst)
			if worst > 0.02 || held < worlds*90/100 {
				t.Errorf("sampled at %g, %g of the load shown: %d of %d intervals hold, the worst estimate is %.2f%% off", rate, share, held, worlds, 100*worst)
			}
		}
	}
}

// TestCoverageNeedsData: a few minutes, or minutes without load or without samples, tell
// nothing.
func TestCoverageNeedsData(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*corroboration.Reading{
		"nothing":      {},
		"four minutes": reading(4, func(int) map[detect.Metric]float64 { return consumed(60) }),
		"no load":      reading(60, func(int) map[detect.Metric]float64 { return consumed(0) }),
		"no metric":    reading(60, func(int) map[detect.Metric]float64 { return nil }),
	} {
		if c := corroboration.CoverageOf(r); c.Write != nil || c.Read != nil {
			t.Errorf("%s: coverage %+v", name, c)
		}
	}
	if c := corroboration.CoverageOf(reading(5, func(int) map[detect.Metric]float64 { return consumed(60) })); c.Write == nil || *c.Write != (detect.Figure{Value: 1, Low: 1, High: 1}) || c.Read != nil {
		t.Errorf("five minutes: coverage %+v", c)
	}
}

// TestFindings holds what CloudWatch alone tells of a table.
func TestFindings(t *testing.T) {
	t.Parallel()
	during := func(from, to int, metrics ...any) *corroboration.Reading {
		return reading(60, func(i int) map[detect.Metric]float64 {
			if i >= from && i < to {
				return consumed(60_000, metrics...)
			}
			return consumed(60_000)
		})
	}
	covered := func(n int, before, after float64, at int) *corroboration.Reading {
		r := reading(n, func(i int) map[detect.Metric]float64 { return consumed(60_000 + float64(i%7)*1000) })
		for i := range r.Minutes {
			share := before
			if i >= at {
				share = after
			}
			r.Minutes[i].Sampled.Write *= share
		}
		return r
	}
	for name, c := range map[string]struct {
		reading *corroboration.Reading
		want    string // subject or case, state, ground and refused attempts of each
	}{
		"calm":                              {during(0, 0), ""},
		"a partition, now":                  {during(50, 60, corroboration.WriteKeyRangeThrottles, 9), "partition firing not_seen map[KeyRangeThroughputExceeded:90]"},
		"a partition, ten minutes ago":      {during(40, 48, corroboration.ReadKeyRangeThrottles, 9), "partition resolved not_seen map[KeyRangeThroughputExceeded:72]"},
		"one minute":                        {during(50, 51, corroboration.WriteKeyRangeThrottles, 9), ""},
		"too little capacity":               {during(50, 60, corroboration.ReadProvisionedThrottles, 9), "table firing provisioned map[ProvisionedThroughputExceeded:90]"},
		"the account's limit and a key":     {during(50, 60, corroboration.WriteAccountThrottles, 9, corroboration.WriteKeyRangeThrottles, 1), "partition firing not_seen map[KeyRangeThroughputExceeded:10], table firing account_quota map[AccountLimitExceeded:90]"},
		"throttled, and no cause was asked": {during(50, 60, corroboration.WriteThrottles, 9), ""},
		"coverage fell":                     {covered(120, 0.9, 0.5, 105), "coverage_fell firing"},
		"coverage fell a little":            {covered(120, 0.9, 0.8, 105), ""},
		"coverage rose":                     {covered(120, 0.5, 0.9, 105), ""},
		"coverage was never more":           {covered(120, 0.3, 0.3, 105), ""},
		"too little to compare with":        {covered(25, 0.9, 0.5, 15), ""},
	} {
		var got []string
		for _, f := range corroboration.Findings(orders, c.reading) {
			attempts := ""
			if f.Evidence != nil {
				attempts = fmt.Sprint(f.Evidence.Refused)
			}
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", f.About(), f.State, f.Ground, attempts)))
			if f.Quality.Source != detect.SourceMinutes || (f.Case == casebook.CoverageFell) != (f.Blind != nil && f.Blind.Before.Value > f.Blind.Now.Value) || len(f.Advice) == 0 || f.Severity != detect.Warning {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}
