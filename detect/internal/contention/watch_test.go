package contention_test

import (
	"math"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/contention"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

const start = 1_800_000_000

// traffic is what an item gets in a second, in attempts and calls.
type traffic struct {
	attempts, conflicts, conditions, retried, failed int64
	// of every seconds only the first has traffic
	every int64
}

// window is a second with the traffic of one item, seen at a rate.
func (c traffic) window(at int64, rate float64) *sketch.Window {
	item := sketch.Contended{Hash: 7, Text: "counter", Attempts: 1000 * c.attempts, Calls: 1000 * (c.attempts - c.retried), Conflicts: 1000 * c.conflicts, Conditions: 1000 * c.conditions, Retried: 1000 * c.retried, Failed: 1000 * c.failed}
	k := sketch.KeyLoad{Hash: 1, Key: sample.KeyString("k"), Requests: c.attempts}
	if rate < 1 {
		item.TriedSpread = sketch.Spread{Variance: float64(c.attempts) * (1 - rate) / rate, Largest: 1 / rate}
		item.LostSpread = sketch.Spread{Variance: float64(c.conflicts+c.conditions) * (1 - rate) / rate, Largest: 1 / rate}
		k.Draws.RateLow, k.Draws.RateHigh = rate, rate
	}
	k.Evidence = &sketch.Evidence{Contention: &sketch.Contention{Items: []sketch.Contended{item}}}
	return &sketch.Window{Target: sample.Target{Table: "orders"}, Second: at, Keys: []sketch.KeyLoad{k}}
}

func watch(seconds int64, rate float64, c traffic) *contention.Episode {
	w := contention.Watch{}
	for at := range seconds {
		if c.every == 0 || at%c.every == 0 {
			w.Observe(c.window(start+at, rate))
		}
	}
	if all := w.Episodes(); len(all) > 0 {
		return all[0]
	}
	return &contention.Episode{}
}

func TestSeverity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story   string
		seconds int64
		rate    float64
		traffic
		want detect.Severity
	}{
		{"half of the attempts of a counter end in a conflict", 60, 1, traffic{attempts: 20, conflicts: 10}, detect.Warning},
		{"as few as a lost attempt a second, and a tenth", 60, 1, traffic{attempts: 10, conflicts: 1}, detect.Warning},
		{"fewer than one a second", 300, 1, traffic{attempts: 10, conflicts: 9, every: 10}, ""},
		{"less than a tenth", 300, 1, traffic{attempts: 21, conflicts: 2}, ""},
		{"an optimistic lock that fails at 5%", 300, 1, traffic{attempts: 200, conditions: 10}, ""},
		{"conditions that fail mostly, by design", 300, 1, traffic{attempts: 20, conditions: 19}, detect.Info},
		{"conflicts beside many failed conditions", 60, 1, traffic{attempts: 20, conditions: 10, conflicts: 4}, detect.Warning},
		{"few conflicts beside many failed conditions", 60, 1, traffic{attempts: 40, conditions: 30, conflicts: 3}, detect.Info},
		{"a burst of one second", 60, 1, traffic{attempts: 900, conflicts: 800, every: 60}, ""},
		{"half a minute", 30, 1, traffic{attempts: 20, conflicts: 10}, ""},
		{"calls that give up", 60, 1, traffic{attempts: 50, conflicts: 20, failed: 1}, detect.Critical},
		{"calls that give up with their condition", 60, 1, traffic{attempts: 50, conditions: 20, failed: 1}, detect.Critical},
		{"1% of the samples, and many conflicts", 60, 0.01, traffic{attempts: 200, conflicts: 100}, detect.Warning},
		{"1% of the samples, and conflicts that chance could make", 60, 0.01, traffic{attempts: 10, conflicts: 2}, ""},
		{"10% of the samples", 60, 0.1, traffic{attempts: 20, conflicts: 10}, detect.Warning},
	} {
		if got := watch(c.seconds, c.rate, c.traffic).Severity; got != c.want {
			t.Errorf("%s: %q, want %q", c.story, got, c.want)
		}
	}
}

// TestFigures holds the figures of a minute to its traffic.
func TestFigures(t *testing.T) {
	t.Parallel()
	e := watch(90, 1, traffic{attempts: 20, conflicts: 6, conditions: 4, retried: 5})
	c := e.Figures
	if c.Item != "counter" || c.Items != 1 || c.Attempts != detect.ExactFigure(20) || c.Lost != detect.ExactFigure(10) || c.Conflicts != 6 || c.ConditionsFailed != 4 || c.Retried != 5 || c.Share != 0.5 || c.ShareLow != 0.5 || c.ShareHigh != 0.5 {
		t.Errorf("%+v", c)
	}
	if e.First != start || e.Last != start+89 || c.To.Unix() != start+89 || c.From.Unix() != start+30 || e.Seconds != 90 {
		t.Errorf("from %d to %d, %+v", e.First-start, e.Last-start, e)
	}
	sampled := watch(60, 0.1, traffic{attempts: 20, conflicts: 10}).Figures
	if sampled.Lost.Low >= 10 || sampled.Lost.High <= 10 || sampled.ShareLow >= 0.5 || sampled.ShareHigh <= 0.5 || math.Abs(sampled.Share-0.5) > 1e-9 {
		t.Errorf("%+v", sampled)
	}
}

// TestRate: a minute of one sampling rate has it, and one of several has none.
func TestRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ early, late, want float64 }{{1, 1, 0}, {0.1, 0.1, 0.1}, {0.1, 0.5, 0}, {0.5, 0.1, 0}} {
		w := contention.Watch{}
		for at := range int64(60) {
			rate := c.early
			if at >= 30 {
				rate = c.late
			}
			w.Observe(traffic{attempts: 40, conflicts: 20}.window(start+at, rate))
		}
		if e := w.Episodes()[0]; e.Rate != c.want || e.Sampled != (c.early < 1) {
			t.Errorf("%v then %v: rate %v, sampled %t, want %v", c.early, c.late, e.Rate, e.Sampled, c.want)
		}
	}
}

// TestItEnds: a contention goes on at half its measure, and its last second is the last one with that.
// What comes a minute later is another one.
func TestItEnds(t *testing.T) {
	t.Parallel()
	w := contention.Watch{}
	phase := func(from, to int64, c traffic) {
		for at := from; at < to; at++ {
			w.Observe(c.window(start+at, 1))
		}
	}
	phase(0, 60, traffic{attempts: 20, conflicts: 10})
	phase(60, 180, traffic{attempts: 20, conflicts: 1}) // 5%, and one a second
	phase(180, 300, traffic{attempts: 50, conflicts: 1})
	e := *w.Episodes()[0]
	if e.First != start || e.Last < start+179 || e.Last > start+200 {
		t.Errorf("from %d to %d", e.First-start, e.Last-start)
	}
	phase(300, 360, traffic{attempts: 20, conflicts: 10})
	if e := w.Episodes()[0]; e.First < start+300-60 || e.Last != start+359 {
		t.Errorf("another one from %d to %d", e.First-start, e.Last-start)
	}
}

// TestOpenAttempts: requests that may be for the item, and are not known to be, lower the share.
func TestOpenAttempts(t *testing.T) {
	t.Parallel()
	w := contention.Watch{}
	for at := range int64(60) {
		s := traffic{attempts: 10, conflicts: 5}.window(start+at, 1)
		s.Keys[0].Evidence.Contention.Items[0].Before = 90
		w.Observe(s)
	}
	if len(w.Episodes()) > 0 {
		t.Errorf("%+v", w.Episodes()[0])
	}
}
