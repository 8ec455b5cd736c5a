package contributors_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/contributors"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/sample"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// metrics are what CloudWatch counts in a minute.
type metrics map[detect.Metric]float64

const (
	written = corroboration.ConsumedWrite
	read    = corroboration.ConsumedRead
	full    = corroboration.WriteKeyRangeThrottles
	fullR   = corroboration.ReadKeyRangeThrottles
	short   = corroboration.WriteProvisionedThrottles
)

// series are values of a key in one minute after another; a minute with 0 does not list it.
func series(key string, values ...float64) contributors.Series {
	s := contributors.Series{Keys: strings.Split(key, "/"), Values: map[int64]float64{}}
	for i, v := range values {
		if v > 0 {
			s.Values[noon.Add(time.Duration(i)*time.Minute).Unix()] = v
		}
	}
	return s
}

// reportsOf are reports of a table with these metrics in one minute after another; nil is a
// minute that CloudWatch does not know.
func reportsOf(minutes ...metrics) contributors.Reports {
	r := &corroboration.Reading{State: corroboration.Read, Through: noon.Add(time.Duration(len(minutes)) * time.Minute)}
	for i, m := range minutes {
		if m != nil {
			r.Minutes = append(r.Minutes, corroboration.Minute{At: noon.Add(time.Duration(i) * time.Minute), Metrics: m})
		}
	}
	return contributors.Reports{Target: detect.Target{Table: "orders"}, CloudWatch: r, Policy: detect.DefaultPolicy()}
}

// told writes findings and doubts: the key, severity and case, and what is proven or possible.
func told(found []detect.Finding, doubts []detect.Doubt) string {
	var lines []string
	for i := range found {
		f := &found[i]
		line := fmt.Sprintf("%s %s %s", f.Severity, f.Case, f.Subject)
		if f.Subject.OfKey() {
			mean := detect.SideOf(f, f.Mean.WCU, f.Mean.RCU)
			line += fmt.Sprintf(" %s ≥%.0f over in %d", f.Key, mean.Low, f.SecondsOver())
		}
		if n := f.Evidence.ThrottledRequests(); n > 0 {
			line += fmt.Sprintf(", %d refused", n)
		}
		for _, k := range f.RefusedKeys {
			line += fmt.Sprintf(", %s %.0f%%", k.Key, 100*k.Share)
		}
		if f.State == detect.Resolved {
			line += ", resolved"
		}
		lines = append(lines, line)
	}
	for _, d := range doubts {
		lines = append(lines, fmt.Sprintf("%s may have %.0f %s", d.Key, d.Most, d.Unit))
	}
	return strings.Join(lines, "\n")
}

// TestJudge has a story for each thing that minutes can prove or leave open.
func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story    string
		accessed []float64
		throttle []float64
		table    []metrics
		want     string
	}{
		{"a table whose whole consumption a value is has exactly these reads and writes",
			[]float64{180_000}, nil, []metrics{{written: 30_000, read: 90_000}}, ""},
		{"180,000 without a known table are at most the limits",
			[]float64{180_000}, nil, []metrics{nil}, ""},
		{"more than 180,000 without a known table may be over a limit",
			[]float64{186_000}, nil, []metrics{nil}, "acme may have 3100 rcu\nacme may have 1033 wcu"},
		{"a table with only writes decides: no data point of reads beside one of writes is zero reads",
			[]float64{198_000}, nil, []metrics{{written: 70_000, full: 40}}, "critical hot_key key_writes acme ≥1100 over in 1"},
		{"a table with only reads decides",
			[]float64{198_000}, nil, []metrics{{read: 200_000, fullR: 1}}, "critical hot_key key_reads acme ≥3300 over in 1"},
		{"reads and writes of the table that bound the key too little leave it open",
			[]float64{198_000}, nil, []metrics{{written: 66_000, read: 66_000}}, "acme may have 1100 wcu"},
		{"a key over a limit without throttling is a warning: values may be 2% too high, or its items on several partitions",
			[]float64{181_764, 181_764}, nil, []metrics{{written: 61_000}, {written: 61_000}}, "warning hot_key key_writes acme ≥1010 over in 2"},
		{"few reads of the table leave a proof",
			[]float64{198_000}, nil, []metrics{{written: 66_000, read: 12_000, full: 1}}, "critical hot_key key_writes acme ≥1033 over in 1"},
		{"a load proven above the policy's share is near the limit",
			[]float64{159_000}, nil, []metrics{{written: 60_000, read: 600}}, "warning near_limit key_writes acme ≥880 over in 0"},
		{"95% of a limit with refused requests in a full partition is critical",
			[]float64{178_200}, []float64{4000}, []metrics{{written: 60_000, full: 4000}}, "critical hot_key key_writes acme ≥990 over in 0, 4000 refused"},
		{"requests refused for its reads, or for another reason, prove nothing of its writes",
			[]float64{178_200}, []float64{4000}, []metrics{{written: 60_000, full: 4000, short: 9}},
			"warning short_of_capacity table, 9 refused, acme 100%\nwarning shared_partition partition, 4000 refused, acme 100%\nwarning near_limit key_writes acme ≥990 over in 0"},
		{"a calm key with refused requests is in a partition that another key may fill",
			[]float64{6000}, []float64{40}, []metrics{{written: 60_000, full: 4000}}, "warning shared_partition partition, 4000 refused, acme 100%"},
		{"a value above the whole table's decides nothing",
			[]float64{198_000}, nil, []metrics{{written: 60_000, read: 600}}, "acme may have 3300 rcu\nacme may have 1100 wcu"},
		{"the highest proven minute counts, and a minute that is open adds nothing",
			[]float64{198_000, 198_000, 6000}, nil, []metrics{{written: 66_000, read: 66_000}, {written: 70_000, full: 9}, {written: 70_000}},
			"critical hot_key key_writes acme ≥1100 over in 1"},
		{"of two minutes over a limit the one with the higher proven load counts",
			[]float64{198_000, 190_200}, nil, []metrics{{written: 66_000, read: 12_000, full: 9}, {written: 70_000, full: 9}},
			"critical hot_key key_writes acme ≥1057 over in 2"},
		{"a full partition that refuses the key in another minute is a finding of its own",
			[]float64{198_000, 6000}, []float64{0, 9}, []metrics{{written: 70_000}, {written: 70_000, full: 9}},
			"warning hot_key key_writes acme ≥1100 over in 1\nwarning shared_partition partition, 9 refused, acme 100%"},
		{"a key without a reported load has its refused requests",
			nil, []float64{5, 7}, []metrics{nil, {written: 60_000, full: 9}}, "warning shared_partition partition, 9 refused, acme 100%"},
		{"refused requests without a throttle event of the table have no known reason",
			nil, []float64{0, 7}, []metrics{nil, {written: 60_000}}, "warning no_reason table, 7 refused, acme 100%"},
		{"an episode that is over for more than five minutes is resolved",
			[]float64{198_000}, nil, []metrics{{written: 66_000}, nil, nil, nil, nil, nil, nil, nil}, "warning hot_key key_writes acme ≥1100 over in 1, resolved"},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			reports := reportsOf(c.table...)
			if c.accessed != nil {
				reports.Accessed = []contributors.Series{series("acme", c.accessed...)}
			}
			if c.throttle != nil {
				reports.Throttled = []contributors.Series{series("acme", c.throttle...)}
			}
			if got := told(reports.Judge()); got != c.want {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestKeysTogetherFit: keys that together have more than the table are not counted as
// CloudWatch counts, though each of them could be a part of it.
func TestKeysTogetherFit(t *testing.T) {
	t.Parallel()
	reports := reportsOf(metrics{written: 70_000})
	reports.Accessed = []contributors.Series{series("a", 198_000), series("b", 30_000)}
	if got := told(reports.Judge()); got != "a may have 3300 rcu\na may have 1100 wcu" {
		t.Error(got)
	}
}

// TestPolicies: an excluded key has neither finding nor doubt, and no severity is above the
// policy's.
func TestPolicies(t *testing.T) {
	t.Parallel()
	reports := reportsOf(metrics{written: 140_000, full: 9})
	reports.Accessed = []contributors.Series{series("test#1", 198_000), series("acme", 198_000)}
	reports.Policy.Exclude, reports.Policy.Severest, reports.KeysHidden = []string{"test#*"}, detect.Warning, true
	found, doubts := reports.Judge()
	if told(found, doubts) != "warning hot_key key_writes acme ≥1100 over in 1" || !found[0].Quality.KeysHidden {
		t.Error(told(found, doubts))
	}
}

// TestItems: an item that fills a partition alone makes the key a hot item; its share is of the
// finding's highest minute.
func TestItems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story string
		items []contributors.Series
		want  detect.Case
		share float64
	}{
		{"one item has it all", []contributors.Series{series("acme/1", 198_000, 6000), series("acme/2", 600)}, "hot_item", 1},
		{"two items that a split can divide", []contributors.Series{series("acme/1", 99_000), series("acme/2", 99_000)}, "hot_key", 0},
		{"an item of another key", []contributors.Series{series("other/1", 198_000)}, "hot_key", 0},
		{"an item in another minute", []contributors.Series{series("acme/1", 0, 198_000)}, "hot_key", 0},
	} {
		reports := reportsOf(metrics{written: 70_000, full: 9}, metrics{written: 70_000})
		reports.Accessed, reports.Items = []contributors.Series{series("acme", 198_000, 6000)}, c.items
		found, _ := reports.Judge()
		f := found[0]
		items := f.Evidence.Items
		if f.Case != c.want || (len(items) > 0) != (c.share > 0) || len(items) > 0 && (items[0].Text != "1" || items[0].Low != c.share || items[0].High != c.share) {
			t.Errorf("%s: %s, %+v", c.story, f.Case, items)
		}
	}
}

// TestBoundsAreTrue: whatever keys a table has, what each consumed lies in its bounds, and
// no bound can be narrower: there is a table of the same numbers in which the key has it. A
// finding over the limit is over it, and a key over the limit has a finding or a doubt.
func TestBoundsAreTrue(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 14))
	for range 2000 {
		type load struct{ w, r float64 }
		keys := make([]load, 1+random.IntN(4))
		var table load
		for i := range keys {
			keys[i] = load{math.Floor(random.ExpFloat64() * 900), math.Floor(random.ExpFloat64() * 2700)}
			if random.IntN(3) == 0 {
				keys[i].w = 0
			}
			table.w, table.r = table.w+keys[i].w, table.r+keys[i].r
		}
		reports := reportsOf(metrics{written: 60 * table.w, read: 60 * table.r})
		reports.Policy.Warning = 1e-9 // whatever is proven
		for i, k := range keys {
			reports.Accessed = append(reports.Accessed, series(string(rune('a'+i)), 60*(3*k.w+k.r)))
		}
		found, doubts := reports.Judge()
		proven := map[detect.KeyRef][2]bool{}
		const noise = 1e-6
		for i := range found {
			f := &found[i]
			k, w, r := keys[f.Key[0]-'a'], f.Mean.WCU, f.Mean.RCU
			if k.w < w.Low-noise || k.w > w.High+noise || k.r < r.Low-noise || k.r > r.High+noise {
				t.Fatalf("%v of a table of %v has the bounds %v, %v", k, table, w, r)
			}
			value := 3*k.w + k.r
			for _, w := range []float64{w.Low, w.High} {
				if r := value - 3*w; w < -noise || w > table.w+noise || r < -noise || r > table.r+noise {
					t.Fatalf("of %v in a table of %v, %g writes would be %g reads", k, table, w, r)
				}
			}
			if f.SecondsOver() > 0 {
				if detect.SideOf(f, k.w/1000, k.r/3000) <= 1 {
					t.Fatalf("%v is called over the limit", k)
				}
				sides := proven[f.KeyRef]
				sides[detect.BoolToInt(f.InReads())] = true
				proven[f.KeyRef] = sides
			}
		}
		for _, d := range doubts {
			k, sides := keys[d.Key[0]-'a'], proven[d.KeyRef]
			if side := detect.BoolToInt(d.Unit == "rcu"); sides[side] || d.Most < []float64{k.w, k.r}[side]-noise {
				t.Fatalf("%v has the doubt %v", k, d)
			}
			sides[detect.BoolToInt(d.Unit == "rcu")] = true
			proven[d.KeyRef] = sides
		}
		for i, k := range keys {
			told := proven[detect.KeyRef{Target: reports.Target, Key: sample.Text(rune('a' + i)), KeyType: "S"}]
			if k.w > 1000 && !told[0] || k.r > 3000 && !told[1] {
				t.Fatalf("nothing is said of %v in a table of %v", k, table)
			}
		}
	}
}

// TestAnothersThrottles: a key over a limit is served if all throttled requests are of
// another key. If the report does not list every throttled key, this is unknown.
func TestAnothersThrottles(t *testing.T) {
	t.Parallel()
	for all, want := range map[bool]detect.Severity{true: detect.Warning, false: detect.Critical} {
		reports := reportsOf(metrics{written: 70_000, full: 9})
		reports.Accessed = []contributors.Series{series("acme", 198_000), series("other", 6000)}
		reports.Throttled, reports.AllThrottled = []contributors.Series{series("other", 9)}, all
		found, _ := reports.Judge()
		for _, f := range found {
			if f.Key == "acme" && f.Severity != want {
				t.Errorf("with all throttled keys listed %t: %s", all, f.Severity)
			}
		}
	}
}
