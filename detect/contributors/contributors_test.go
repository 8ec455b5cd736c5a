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
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// metrics are what CloudWatch counts in the first minute.
type metrics map[detect.Metric]float64

// series are values of a key in one minute after another.
func series(key string, values ...float64) contributors.Series {
	s := contributors.Series{Keys: strings.Split(key, "/")}
	for i, v := range values {
		if v > 0 {
			s.Points = append(s.Points, contributors.Point{At: noon.Add(time.Duration(i) * time.Minute), Value: v})
		}
	}
	return s
}

func minutesOf(of ...metrics) (all []corroboration.Minute) {
	for i, m := range of {
		if m != nil {
			all = append(all, corroboration.Minute{At: noon.Add(time.Duration(i) * time.Minute), Metrics: m})
		}
	}
	return all
}

const (
	written = corroboration.ConsumedWrite
	read    = corroboration.ConsumedRead
	full    = corroboration.WriteKeyRangeThrottles
)

// TestJudge: what one key's minutes say, beside what its table consumed.
func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story    string
		accessed []float64
		throttle []float64
		table    []metrics
		verdict  contributors.Verdict
		severity detect.Severity
		wcu, rcu [2]float64
		says     string
	}{
		{"180,000 of a table that wrote 500 and read 1,500 a second were just that",
			[]float64{180_000}, nil, []metrics{{written: 30_000, read: 90_000}}, contributors.NotOver, detect.Info,
			[2]float64{500, 500}, [2]float64{1500, 1500}, "single seconds are not seen"},
		{"180,000 beside nothing known are at most the limits",
			[]float64{180_000}, nil, []metrics{nil}, contributors.PossiblyNear, detect.Info, [2]float64{0, 1000}, [2]float64{0, 3000}, "may be 0 to 1,000 WCU/s with 0 to 3,000 RCU/s, up to 100% of what one partition serves"},
		{"more beside nothing known may be over by either",
			[]float64{186_000}, nil, []metrics{nil}, contributors.Possible, detect.Info, [2]float64{0, 1033.33}, [2]float64{0, 3100}, "may be 0 to 1,034 WCU/s with 0 to 3,100 RCU/s"},
		{"a table that is only written decides: no data point of reads is no reads beside one of writes",
			[]float64{198_000}, nil, []metrics{{written: 70_000, full: 40}}, contributors.Over, detect.Critical, [2]float64{1100, 1100}, [2]float64{0, 0}, "1,100 WCU/s, at least 110% of the 1,000"},
		{"a table that is only read decides",
			[]float64{198_000}, nil, []metrics{{read: 200_000, full: 1}}, contributors.Over, detect.Critical, [2]float64{0, 0}, [2]float64{3300, 3300}, "3,300 RCU/s, at least 110% of the 3,000"},
		{"neither reads nor writes of the table bound the key enough",
			[]float64{198_000}, nil, []metrics{{written: 66_000, read: 66_000}}, contributors.Possible, detect.Info,
			[2]float64{733.33, 1100}, [2]float64{0, 1100}, "does not tell which. It may have been in the only minute that reports it. No request of it was throttled"},
		{"an hour over by values that are 2% too high, of which nothing was throttled, may be below the limit or on several partitions",
			[]float64{181_764, 181_764}, nil, []metrics{{written: 61_000}, {written: 61_000}}, contributors.OverNotThrottled, detect.Warning,
			[2]float64{1009.8, 1009.8}, [2]float64{0, 0}, "It was so in all 2 minutes that report it. No request of it was throttled because of a key range meanwhile: the key's items are probably on several partitions already, or its real load is a little lower."},
		{"more than both limits together is over one of them, whatever it is made of",
			[]float64{378_000}, nil, []metrics{nil}, contributors.Over, detect.Critical,
			[2]float64{0, 2100}, [2]float64{0, 6300}, "0 to 2,100 WCU/s with 0 to 6,300 RCU/s, which is, by writes or by reads, at least 105% of what one partition serves, in the mean"},
		{"few reads of the table leave a proof",
			[]float64{198_000}, nil, []metrics{{written: 66_000, read: 12_000, full: 1}}, contributors.Over, detect.Critical,
			[2]float64{1033.33, 1100}, [2]float64{0, 200}, "In that minute requests were throttled because of a key range."},
		{"above the policy's share is near",
			[]float64{159_000}, nil, []metrics{{written: 60_000, read: 600}}, contributors.Near, detect.Warning,
			[2]float64{880, 883.33}, [2]float64{0, 10}, "Near the limit: 880 to 884 WCU/s, at least 88%"},
		{"the rest that a full partition serves, beside throttled requests because of a key range, is the limit",
			[]float64{178_200}, []float64{4000}, []metrics{{written: 60_000, full: 4000}}, contributors.AtLimit, detect.Critical,
			[2]float64{990, 990}, [2]float64{0, 0}, "it asks for more. 4,000 requests, retries among them, were throttled in 1 minute, that of 2026-11-21T12:00:00Z; in it a partition could take no more writes."},
		{"what may be all that a partition serves, and was throttled because of a key range, is told before what is near",
			[]float64{175_500, 159_000}, []float64{4000, 0}, []metrics{{written: 60_000, read: 124_000, full: 4000}, {written: 60_000}}, contributors.PartitionFull, detect.Warning,
			[2]float64{286.11, 975}, [2]float64{0, 2066.67}, "Requests of it were throttled in the minute 2026-11-21T12:00:00Z, in which a partition was full. Whether this key fills it is not proven: its load was 286 to 975 WCU/s with 0 to 2,067 RCU/s in the mean of that minute."},
		{"a key that is calm in the mean was throttled in a minute in which some key filled a partition",
			[]float64{6000}, []float64{40}, []metrics{{written: 60_000, full: 4000}}, contributors.PartitionFull, detect.Warning,
			[2]float64{33.33, 33.33}, [2]float64{0, 0}, "its load was 33 WCU/s with 0 RCU/s"},
		{"throttled for another reason it is near, and the table may have too little",
			[]float64{178_200}, []float64{4000}, []metrics{{written: 60_000}}, contributors.Near, detect.Warning,
			[2]float64{990, 990}, [2]float64{0, 0}, "may have too little as a whole"},
		{"a value above the whole table's decides nothing",
			[]float64{198_000}, nil, []metrics{{written: 60_000, read: 600}}, contributors.Possible, detect.Info, [2]float64{0, 1100}, [2]float64{0, 3300}, "May be over"},
		{"the worst minute decides, and the others are counted",
			[]float64{198_000, 198_000, 6000}, nil, []metrics{{written: 66_000, read: 66_000}, {written: 70_000, full: 9}, {written: 70_000}},
			contributors.Over, detect.Critical, [2]float64{1100, 1100}, [2]float64{0, 0}, "in the mean of the minute 2026-11-21T12:01:00Z, so some second had at least as much. It was so in 1 minute of 3, and may have been in 1 more."},
		{"calm, and throttled because the table has too little",
			[]float64{6000}, []float64{40}, []metrics{{written: 60_000}}, contributors.Throttled, detect.Warning,
			[2]float64{33.33, 33.33}, [2]float64{0, 0}, "Not over a limit in the mean of the only minute that reports it"},
		{"throttled in a minute that CloudWatch says nothing of",
			nil, []float64{5, 7}, []metrics{nil, {written: 60_000, full: 9}}, contributors.NotCounted, detect.Warning, [2]float64{}, [2]float64{}, "why, is not known"},
		{"only throttled",
			nil, []float64{0, 7}, []metrics{nil, {written: 60_000, full: 9}}, contributors.NotCounted, detect.Warning, [2]float64{}, [2]float64{}, "Its load was not reported. 7 requests, retries among them, were throttled"},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			reports := contributors.Reports{Minutes: minutesOf(c.table...), Warning: detect.DefaultWarning}
			if c.accessed != nil {
				reports.Accessed = []contributors.Series{series("acme", c.accessed...)}
			}
			if c.throttle != nil {
				reports.Throttled = []contributors.Series{series("acme", c.throttle...)}
			}
			got := reports.Judge()
			if len(got) != 1 {
				t.Fatalf("%d keys", len(got))
			}
			k := got[0]
			if k.Verdict != c.verdict || k.Severity != c.severity || !strings.Contains(k.Why, c.says) {
				t.Errorf("%s, %s: %s", k.Verdict, k.Severity, k.Why)
			}
			if k.Bounds != nil && (!near(k.WCU, c.wcu) || !near(k.RCU, c.rcu)) {
				t.Errorf("WCU %v, RCU %v: want %v, %v", k.WCU, k.RCU, c.wcu, c.rcu)
			}
		})
	}
}

func near(got contributors.Range, want [2]float64) bool {
	return math.Abs(got.Low-want[0]) < 0.01 && math.Abs(got.High-want[1]) < 0.01
}

// TestKeysTogetherFit: keys that together have more than the table are not counted as
// CloudWatch counts, though each of them could be a part of it.
func TestKeysTogetherFit(t *testing.T) {
	t.Parallel()
	reports := contributors.Reports{
		Accessed: []contributors.Series{series("a", 198_000), series("b", 30_000)},
		Minutes:  minutesOf(metrics{written: 70_000}), Warning: detect.DefaultWarning,
	}
	for _, k := range reports.Judge() {
		if k.Verdict == contributors.Over || k.WCU.Low != 0 {
			t.Errorf("%s is %s with %v", k.Key, k.Verdict, k.WCU)
		}
	}
}

// TestItems: an item has its sort key, and what was throttled of another item is not its.
func TestItems(t *testing.T) {
	t.Parallel()
	reports := contributors.Reports{
		Accessed:  []contributors.Series{series("acme/1", 198_000), series("acme/2", 600)},
		Throttled: []contributors.Series{series("acme/2", 5), series("acme", 3)},
		Minutes:   minutesOf(metrics{written: 70_000}), Warning: detect.DefaultWarning,
	}
	all := reports.Judge()
	if len(all) != 3 || all[0].SortKey == nil || *all[0].SortKey != "1" || all[0].Throttled != 0 || all[1].Throttled != 5 || all[2].SortKey != nil {
		t.Errorf("%+v", all)
	}
}

// TestBoundsAreTrue: whatever keys a table has, what each consumed lies in its bounds, and
// no bound can be narrower: there is a table of the same numbers in which the key has it.
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
		reports := contributors.Reports{Minutes: minutesOf(metrics{written: 60 * table.w, read: 60 * table.r}), Warning: detect.DefaultWarning}
		for i, k := range keys {
			reports.Accessed = append(reports.Accessed, series(string(rune('a'+i)), 60*(3*k.w+k.r)))
		}
		for _, got := range reports.Judge() {
			if got.Value == nil {
				continue
			}
			k := keys[got.Key[0]-'a']
			const noise = 1e-6
			if k.w < got.WCU.Low-noise || k.w > got.WCU.High+noise || k.r < got.RCU.Low-noise || k.r > got.RCU.High+noise {
				t.Fatalf("%v of a table of %v has the bounds %v, %v", k, table, got.WCU, got.RCU)
			}
			value := 3*k.w + k.r
			for _, w := range []float64{got.WCU.Low, got.WCU.High} {
				if r := value - 3*w; w < -noise || w > table.w+noise || r < -noise || r > table.r+noise {
					t.Fatalf("of %v in a table of %v, %g writes would be %g reads", k, table, w, r)
				}
			}
			over := k.w > 1000 || k.r > 3000
			if got.Verdict == contributors.Over && !over || got.Verdict == contributors.NotOver && over {
				t.Fatalf("%v of a table of %v is %s", k, table, got.Verdict)
			}
		}
	}
}

// TestAnothersThrottles: a key that is over, beside another one of which alone requests were
// throttled, is served; where not every throttled key is listed it may be theirs.
func TestAnothersThrottles(t *testing.T) {
	t.Parallel()
	for all, want := range map[bool]contributors.Verdict{true: contributors.OverNotThrottled, false: contributors.Over} {
		reports := contributors.Reports{
			Accessed:  []contributors.Series{series("acme", 198_000), series("other", 6000)},
			Throttled: []contributors.Series{series("other", 9)}, AllThrottled: all,
			Minutes: minutesOf(metrics{written: 70_000, full: 9}), Warning: detect.DefaultWarning,
		}
		for _, k := range reports.Judge() {
			if k.Key == "acme" && k.Verdict != want {
				t.Errorf("with all throttled keys listed %t: %s: %s", all, k.Verdict, k.Why)
			}
		}
	}
}

// TestWhatAKeyMayBe: the severity that a key could have decides for a pipeline.
func TestWhatAKeyMayBe(t *testing.T) {
	t.Parallel()
	mixed := func(more metrics) []metrics {
		m := metrics{written: 66_000, read: 198_000}
		for name, v := range more {
			m[name] = v
		}
		return []metrics{m}
	}
	for _, c := range []struct {
		story string
		value float64
		table []metrics
		worst detect.Severity
	}{
		{"possibly over, and nothing was throttled", 198_000, mixed(nil), detect.Warning},
		{"possibly over, and something was", 198_000, mixed(metrics{full: 3}), detect.Critical},
		{"possibly over, and nothing is known of the table", 198_000, nil, detect.Critical},
		{"possibly near", 180_000, mixed(nil), detect.Warning},
		{"calm", 6000, mixed(nil), detect.Info},
	} {
		reports := contributors.Reports{Accessed: []contributors.Series{series("acme", c.value)}, Minutes: minutesOf(c.table...), Warning: detect.DefaultWarning}
		if k := reports.Judge()[0]; k.Worst != c.worst || k.Severity != detect.Info {
			t.Errorf("%s: %s, at most %s: %s", c.story, k.Severity, k.Worst, k.Why)
		}
	}
}

// TestWhatToDoFirst: by what is known of the key.
func TestWhatToDoFirst(t *testing.T) {
	t.Parallel()
	busy := []metrics{{written: 70_000, full: 90}}
	many := make([]contributors.Series, 20)
	for i := range many {
		many[i] = series(fmt.Sprintf("acme/%d", i), 9900)
	}
	for _, c := range []struct {
		story     string
		value     float64
		throttled float64
		items     []contributors.Series
		table     []metrics
		index     string
		says      []string
	}{
		{"one item has most of it", 198_000, 90, []contributors.Series{series("acme/total", 194_000), series("acme/2", 4000)}, busy, "",
			[]string{"its largest item", "98% of the load", "neither shards nor a split", "Write it less often"}},
		{"many items", 198_000, 90, many, busy, "", []string{"local secondary index", "some minutes", "into at least 2 shards", "analyze --stream orders"}},
		{"many items of an index, which has no local ones", 198_000, 90, many, busy, "by-status", []string{"Let clients back off", "many items"}},
		{"items that are not known", 198_000, 90, nil, busy, "", []string{"unless one item has most of the load, which is not known", "docs/INSTRUMENTING.md"}},
		{"throttled because the table has too little", 6000, 90, nil, []metrics{{written: 70_000}}, "", []string{"no partition was full", "capacity"}},
		{"nothing is refused", 198_000, 0, nil, []metrics{{written: 70_000}}, "", []string{"Change nothing", "alarm"}},
		{"what it is made of is not known", 198_000, 0, nil, nil, "", []string{"how much of it is writes", "own consumption in CloudWatch, which is not known here", "--stream orders"}},
		{"calm", 6000, 0, nil, busy, "", nil},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			reports := contributors.Reports{Accessed: []contributors.Series{series("acme", c.value)}, Throttled: []contributors.Series{series("acme", c.throttled)}, Minutes: minutesOf(c.table...), Warning: detect.DefaultWarning}
			k := reports.Judge()[0]
			k.SetItems(c.items)
			k.Advise(contributors.Place{Table: "orders", Index: c.index, Headroom: detect.DefaultHeadroom})
			for _, text := range c.says {
				if !strings.Contains(k.First, text) {
					t.Errorf("%q is not in %q", text, k.First)
				}
			}
			if len(c.says) == 0 && k.First != "" || c.index != "" && strings.Contains(k.First, "local secondary") {
				t.Errorf("%s: %q", k.Verdict, k.First)
			}
		})
	}
}
