package contributors_test

import (
	"maps"
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
	s := contributors.Series{Keys: strings.Split(key, "/"), Values: map[int64]float64{}}
	for i, v := range values {
		if v > 0 {
			s.Values[noon.Add(time.Duration(i)*time.Minute).Unix()] = v
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

// TestJudge has a story for each verdict and severity: a key's minutes beside its table's.
func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story       string
		accessed    []float64
		throttle    []float64
		table       []metrics
		verdict     contributors.Verdict
		severity    detect.Severity
		worst       detect.Severity
		wcu, rcu    [2]float64
		over, maybe int // minutes over a limit, and possibly so
	}{
		{"a table whose whole consumption a value is has exactly these reads and writes",
			[]float64{180_000}, nil, []metrics{{written: 30_000, read: 90_000}}, contributors.Under, detect.Info, detect.Info,
			[2]float64{500, 500}, [2]float64{1500, 1500}, 0, 0},
		{"180,000 without a known table are at most the limits",
			[]float64{180_000}, nil, []metrics{nil}, contributors.Near, detect.Info, detect.Warning, [2]float64{0, 1000}, [2]float64{0, 3000}, 0, 0},
		{"more than 180,000 without a known table may be over a limit",
			[]float64{186_000}, nil, []metrics{nil}, contributors.Possible, detect.Info, detect.Critical, [2]float64{0, 1033.33}, [2]float64{0, 3100}, 0, 1},
		{"a table with only writes decides: no data point of reads beside one of writes is zero reads",
			[]float64{198_000}, nil, []metrics{{written: 70_000, full: 40}}, contributors.Over, detect.Critical, detect.Critical, [2]float64{1100, 1100}, [2]float64{0, 0}, 1, 0},
		{"a table with only reads decides",
			[]float64{198_000}, nil, []metrics{{read: 200_000, full: 1}}, contributors.Over, detect.Critical, detect.Critical, [2]float64{0, 0}, [2]float64{3300, 3300}, 1, 0},
		{"reads and writes of the table that bound the key too little leave it possible",
			[]float64{198_000}, nil, []metrics{{written: 66_000, read: 66_000}}, contributors.Possible, detect.Info, detect.Warning,
			[2]float64{733.33, 1100}, [2]float64{0, 1100}, 0, 1},
		{"a key over a limit without throttling is a warning: values may be 2% too high, or its items on several partitions",
			[]float64{181_764, 181_764}, nil, []metrics{{written: 61_000}, {written: 61_000}}, contributors.Over, detect.Warning, detect.Warning,
			[2]float64{1009.8, 1009.8}, [2]float64{0, 0}, 2, 0},
		{"a value above both limits together is over one of them for any mix",
			[]float64{378_000}, nil, []metrics{nil}, contributors.Over, detect.Critical, detect.Critical,
			[2]float64{0, 2100}, [2]float64{0, 6300}, 1, 0},
		{"few reads of the table leave a proof",
			[]float64{198_000}, nil, []metrics{{written: 66_000, read: 12_000, full: 1}}, contributors.Over, detect.Critical, detect.Critical,
			[2]float64{1033.33, 1100}, [2]float64{0, 200}, 1, 0},
		{"a load proven above the policy's share is a near one, and a warning",
			[]float64{159_000}, nil, []metrics{{written: 60_000, read: 600}}, contributors.Near, detect.Warning, detect.Warning,
			[2]float64{880, 883.33}, [2]float64{0, 10}, 0, 0},
		{"95% of a limit with refused requests in a full partition is critical",
			[]float64{178_200}, []float64{4000}, []metrics{{written: 60_000, full: 4000}}, contributors.Full, detect.Critical, detect.Critical,
			[2]float64{990, 990}, [2]float64{0, 0}, 0, 0},
		{"refused requests in a full partition come before a near load",
			[]float64{175_500, 159_000}, []float64{4000, 0}, []metrics{{written: 60_000, read: 124_000, full: 4000}, {written: 60_000}}, contributors.Full, detect.Warning, detect.Critical,
			[2]float64{286.11, 975}, [2]float64{0, 2066.67}, 0, 0},
		{"a calm key with refused requests in a partition that another key may fill is a warning",
			[]float64{6000}, []float64{40}, []metrics{{written: 60_000, full: 4000}}, contributors.Full, detect.Warning, detect.Critical,
			[2]float64{33.33, 33.33}, [2]float64{0, 0}, 0, 0},
		{"a near key with refused requests and no full partition stays near",
			[]float64{178_200}, []float64{4000}, []metrics{{written: 60_000}}, contributors.Near, detect.Warning, detect.Warning,
			[2]float64{990, 990}, [2]float64{0, 0}, 0, 0},
		{"a value above the whole table's decides nothing",
			[]float64{198_000}, nil, []metrics{{written: 60_000, read: 600}}, contributors.Possible, detect.Info, detect.Warning, [2]float64{0, 1100}, [2]float64{0, 3300}, 0, 1},
		{"the worst minute decides, and the others are counted",
			[]float64{198_000, 198_000, 6000}, nil, []metrics{{written: 66_000, read: 66_000}, {written: 70_000, full: 9}, {written: 70_000}},
			contributors.Over, detect.Critical, detect.Critical, [2]float64{1100, 1100}, [2]float64{0, 0}, 1, 1},
		{"of two minutes over a limit the one with the higher proven load is the worst",
			[]float64{198_000, 190_200}, nil, []metrics{{written: 66_000, read: 12_000, full: 9}, {written: 70_000, full: 9}},
			contributors.Over, detect.Critical, detect.Critical, [2]float64{1056.67, 1056.67}, [2]float64{0, 0}, 2, 0},
		{"a minute with refused requests in a full partition is worse than a served one over a limit",
			[]float64{198_000, 6000}, []float64{0, 9}, []metrics{{written: 70_000}, {written: 70_000, full: 9}},
			contributors.Full, detect.Warning, detect.Critical, [2]float64{33.33, 33.33}, [2]float64{0, 0}, 1, 0},
		{"a calm key with refused requests and no full partition is under, and a warning",
			[]float64{6000}, []float64{40}, []metrics{{written: 60_000}}, contributors.Under, detect.Warning, detect.Warning,
			[2]float64{33.33, 33.33}, [2]float64{0, 0}, 0, 0},
		{"a key without a reported load is full if a partition was full",
			nil, []float64{5, 7}, []metrics{nil, {written: 60_000, full: 9}}, contributors.Full, detect.Warning, detect.Critical, [2]float64{}, [2]float64{}, 0, 0},
		{"a throttled minute without a reported load counts beside reported ones",
			[]float64{6000, 0}, []float64{0, 7}, []metrics{{written: 60_000}, {written: 60_000, full: 9}}, contributors.Full, detect.Warning, detect.Critical, [2]float64{}, [2]float64{}, 0, 0},
		{"a key without a reported load is possible if no partition was full",
			nil, []float64{0, 7}, []metrics{nil, {written: 60_000}}, contributors.Possible, detect.Warning, detect.Warning, [2]float64{}, [2]float64{}, 0, 0},
		{"a key without a reported load may be critical if nothing is known of the table",
			nil, []float64{7}, nil, contributors.Possible, detect.Warning, detect.Critical, [2]float64{}, [2]float64{}, 0, 0},
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
			if k.Verdict != c.verdict || k.Severity != c.severity || k.Worst != c.worst || k.OverMinutes != c.over || k.PossibleMinutes != c.maybe {
				t.Errorf("%+v", k)
			}
			if k.Bounds == nil && c.wcu != [2]float64{} || k.Bounds != nil && (!near(k.WCU, c.wcu) || !near(k.RCU, c.rcu)) {
				t.Errorf("the bounds are %+v: want %v, %v", k.Bounds, c.wcu, c.rcu)
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
	if len(all) != 3 || all[0].SortKey == nil || *all[0].SortKey != "1" || all[0].Throttled != 0 || all[1].SortKey != nil || all[2].Throttled != 5 {
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
			share := max(k.w/1000, k.r/3000)
			if share < got.Share.Low-noise || share > got.Share.High+noise {
				t.Fatalf("%v of a table of %v is %g of a limit, outside of %v", k, table, share, got.Share)
			}
			if over := share > 1; got.Verdict == contributors.Over && !over || (got.Verdict == contributors.Under || got.Verdict == contributors.Near) && over {
				t.Fatalf("%v of a table of %v is %s", k, table, got.Verdict)
			}
		}
	}
}

// TestAnothersThrottles: a key over a limit is served if all throttled requests are of
// another key. If the report does not list every throttled key, this is unknown.
func TestAnothersThrottles(t *testing.T) {
	t.Parallel()
	for all, want := range map[bool]detect.Severity{true: detect.Warning, false: detect.Critical} {
		reports := contributors.Reports{
			Accessed:  []contributors.Series{series("acme", 198_000), series("other", 6000)},
			Throttled: []contributors.Series{series("other", 9)}, AllThrottled: all,
			Minutes: minutesOf(metrics{written: 70_000, full: 9}), Warning: detect.DefaultWarning,
		}
		for _, k := range reports.Judge() {
			if k.Key == "acme" && (k.Verdict != contributors.Over || k.Severity != want || k.Served != all) {
				t.Errorf("with all throttled keys listed %t: %+v", all, k)
			}
		}
	}
}

// TestWhatAKeyMayBe: a pipeline fails for the worst severity that a key may have.
func TestWhatAKeyMayBe(t *testing.T) {
	t.Parallel()
	mixed := func(more metrics) []metrics {
		m := metrics{written: 66_000, read: 198_000}
		maps.Copy(m, more)
		return []metrics{m}
	}
	for _, c := range []struct {
		story string
		value float64
		table []metrics
		worst detect.Severity
	}{
		{"possibly over a limit without throttling", 198_000, mixed(nil), detect.Warning},
		{"possibly over a limit with throttling of some key", 198_000, mixed(metrics{full: 3}), detect.Critical},
		{"possibly over a limit of an unknown table", 198_000, nil, detect.Critical},
		{"possibly near a limit", 180_000, mixed(nil), detect.Warning},
		{"calm", 6000, mixed(nil), detect.Info},
	} {
		reports := contributors.Reports{Accessed: []contributors.Series{series("acme", c.value)}, Minutes: minutesOf(c.table...), Warning: detect.DefaultWarning}
		if k := reports.Judge()[0]; k.Worst != c.worst || k.Severity != detect.Info {
			t.Errorf("%s: %s, at most %s", c.story, k.Severity, k.Worst)
		}
	}
}

// TestLargestItem: an item's share of the key is of the verdict's minute.
func TestLargestItem(t *testing.T) {
	t.Parallel()
	reports := contributors.Reports{Accessed: []contributors.Series{series("acme", 198_000, 6000)}, Minutes: minutesOf(metrics{written: 70_000, full: 9}), Warning: detect.DefaultWarning}
	for _, c := range []struct {
		story string
		items []contributors.Series
		share float64 // negative if unknown
	}{
		{"two items", []contributors.Series{series("acme/1", 99_000, 6000), series("acme/2", 49_500)}, 0.5},
		{"approximate values above the key's", []contributors.Series{series("acme/1", 200_000)}, 1},
		{"items of another key", []contributors.Series{series("other/1", 99_000)}, -1},
		{"items of another minute", []contributors.Series{series("acme/1", 0, 6000)}, -1},
	} {
		k := reports.Judge()[0]
		k.SetLargestItem(c.items)
		if (k.LargestItem == nil) != (c.share < 0) || k.LargestItem != nil && *k.LargestItem != c.share {
			t.Errorf("%s: %v", c.story, k.LargestItem)
		}
	}
}
