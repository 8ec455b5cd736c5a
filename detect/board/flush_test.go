package board_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// stream is what one producer writes down of a second of the table.
type stream func(random *rand.Rand, at int64) []sample.Record

// honestly writes each request with its own time; whole cuts it to the second.
func honestly(key, caller string, units float64, whole bool) stream {
	return func(random *rand.Rand, at int64) (all []sample.Record) {
		for range scenario.Poisson(random, units) {
			ms := random.IntN(1000)
			if whole {
				ms = 0
			}
			all = append(all, of(key, caller, at, ms))
		}
		return all
	}
}

// inFlushes writes what has gathered in so many milliseconds, at the time of the flush.
func inFlushes(key, caller string, units float64, every, phase int64) stream {
	return func(random *rand.Rand, at int64) (all []sample.Record) {
		for ms := at*1000 + (phase-at*1000%every+every)%every; ms < (at+1)*1000; ms += every {
			for range scenario.Poisson(random, units*float64(every)/1000) {
				all = append(all, of(key, caller, at, int(ms-at*1000)))
			}
		}
		return all
	}
}

// some writes only in chosen seconds.
func some(s stream, chosen func(at int64) bool) stream {
	return func(random *rand.Rand, at int64) []sample.Record {
		if !chosen(at - scenario.Began) {
			return nil
		}
		return s(random, at)
	}
}

// others are honest requests of 300 other keys.
func others(caller string, units float64, whole bool) stream {
	return func(random *rand.Rand, at int64) (all []sample.Record) {
		for _, r := range honestly("", caller, units, whole)(random, at) {
			r.PK = sample.KeyString(fmt.Sprintf("other#%d", random.IntN(300)))
			all = append(all, r)
		}
		return all
	}
}

// sampled draws a tenth of the requests, each by itself, and says so.
func sampled(s stream) stream {
	return func(random *rand.Rand, at int64) (all []sample.Record) {
		for _, r := range s(random, at) {
			if r.Rate, r.Call = 0.1, fmt.Sprint(random.Uint64()); random.Float64() < r.Rate {
				all = append(all, r)
			}
		}
		return all
	}
}

func of(key, caller string, at int64, ms int) sample.Record {
	r := one(at, ms, 1)
	r.PK, r.Caller = sample.KeyString(key), caller
	return r
}

// TestFlushesBesideHonestTraffic holds that each key is judged by the times of its own
// requests, whoever else writes to the table or to the key: what is flushed pages nobody,
// and what is hot for certain pages, and is not said to be flushed.
func TestFlushesBesideHonestTraffic(t *testing.T) {
	t.Parallel()
	out := table.NewWriter()
	out.AppendHeader(table.Row{"times", "shown", "severity", "state", "says so"})
	hosts := func(n int64, caller string) (all []stream) {
		for i := range n {
			all = append(all, inFlushes("k", caller, 700/float64(n), 10_000, (i*i*937+400)%10_000))
		}
		return all
	}
	every := func(n, of int64) func(int64) bool { return func(at int64) bool { return at%of < n } }
	after := func(n int64) func(int64) bool { return func(at int64) bool { return at >= n } }
	for n, c := range []struct {
		name     string
		streams  []stream
		pages    bool
		flushed  bool
		severity detect.Severity // at most
	}{
		{"one caller flushes its key, the others are honest", []stream{inFlushes("k", "flusher", 700, 2000, 417), others("api", 1000, false)}, false, false, ""},
		{"the same of a hot key", []stream{inFlushes("k", "flusher", 1500, 2000, 417), others("api", 1000, false)}, false, true, detect.Warning},
		{"one honest key beside keys that are flushed", []stream{honestly("k", "api", 1500, false), inFlushes("a", "flusher", 3000, 10_000, 417), inFlushes("b", "flusher", 3000, 10_000, 417)}, true, false, detect.Critical},
		{"the same without callers", []stream{honestly("k", "", 1500, false), inFlushes("a", "", 3000, 10_000, 417)}, true, false, detect.Critical},
		{"an honest key below the limit beside them", []stream{honestly("k", "api", 700, false), inFlushes("a", "flusher", 3000, 10_000, 417)}, false, false, ""},
		{"a key that one of its callers flushes", []stream{honestly("k", "api", 600, false), inFlushes("k", "flusher", 70, 10_000, 417)}, false, false, ""},
		{"a hot key that one of its callers flushes", []stream{honestly("k", "api", 1300, false), inFlushes("k", "flusher", 100, 10_000, 417)}, true, false, detect.Critical},
		{"ten hosts under one name", hosts(10, "fleet"), false, false, ""},
		{"ten hosts without a name", hosts(10, ""), false, false, ""},
		{"thirty hosts under one name", hosts(30, "fleet"), false, false, ""},
		{"sampled by request, and flushed", []stream{sampled(inFlushes("k", "", 700, 10_000, 417)), others("api", 1000, false)}, false, false, ""},
		{"sampled by request, hot", []stream{sampled(honestly("k", "", 2500, false)), inFlushes("a", "flusher", 3000, 10_000, 417)}, true, false, detect.Critical},
		{"flushes of 1.5 s", []stream{inFlushes("k", "", 700, 1500, 417)}, false, false, ""},
		{"flushes that end in the next second", []stream{inFlushes("k", "", 300, 10_000, 995), inFlushes("k", "", 300, 10_000, 1005)}, false, false, ""},
		// All times are whole seconds: bursts look the same, and each second's sum is exact.
		{"flushes of 2 s in whole seconds", []stream{inFlushes("k", "", 700, 2000, 0)}, true, false, detect.Critical},
		{"flushes of 10 s in whole seconds", []stream{inFlushes("k", "", 700, 10_000, 5000)}, false, false, detect.Critical},
		{"flushes of a minute in whole seconds", []stream{inFlushes("k", "", 700, 60_000, 7000)}, false, false, detect.Critical},
		{"the same of a hot key", []stream{inFlushes("k", "", 1500, 2000, 0)}, true, false, detect.Critical},
		{"flushes in whole seconds beside others with times in seconds", []stream{inFlushes("k", "flusher", 700, 5000, 0), others("api", 1000, true)}, false, false, detect.Critical},
		{"flushes in whole seconds beside others with milliseconds", []stream{inFlushes("k", "flusher", 700, 5000, 0), others("api", 1000, false)}, false, false, ""},
		{"a caller's burst of one millisecond, who spreads its requests in all seconds", []stream{others("api", 500, false), some(inFlushes("k", "api", 1500, 1000, 417), every(2, 10))}, true, false, detect.Critical},
		{"times in seconds", []stream{honestly("k", "", 1500, true)}, true, false, detect.Critical},
		{"times in seconds, below the limit", []stream{honestly("k", "", 700, true)}, false, false, ""},
		{"times in seconds, hot after a while", []stream{honestly("k", "", 50, true), some(honestly("k", "", 1450, true), after(120))}, true, false, detect.Critical},
		{"times in seconds, a load in each fifth", []stream{some(honestly("k", "", 6000, true), every(1, 5))}, false, false, detect.Critical},
		{"times in seconds, a load in two of five", []stream{some(honestly("k", "", 3000, true), every(2, 5))}, true, false, detect.Critical},
		{"times in seconds, a load in each fifth beside others", []stream{some(honestly("k", "api", 6000, true), every(2, 5)), others("api", 500, true)}, true, false, detect.Critical},
		{"times in seconds without callers, a load in each fifth beside others", []stream{some(honestly("k", "", 6000, true), every(2, 5)), others("", 500, true)}, true, false, detect.Critical},
		{"a load in two of five seconds", []stream{some(honestly("k", "", 3000, false), every(2, 5))}, true, false, detect.Critical},
	} {
		if testing.Short() && n%3 > 0 {
			continue
		}
		random := rand.New(rand.NewPCG(37, uint64(len(c.name))))
		worst := detect.Finding{}
		for _, f := range judgedBy(240, 10, func(at int64) (all []sample.Record) {
			for _, s := range c.streams {
				all = append(all, s(random, at)...)
			}
			return all
		}) {
			if f.Subject == detect.KeyWrites && f.Key == "k" {
				worst = f
			}
		}
		says := worst.Quality.InBatches()
		out.AppendRow(table.Row{c.name, fmt.Sprintf("%.0f", worst.Peak.WCU.Value), worst.Severity, worst.State, says})
		if pages := worst.State == detect.Firing; pages != c.pages || says != c.flushed || worst.Severity != c.severity {
			t.Errorf("%s: %q, %s of %+v, want %q, pages %t, says so %t", c.name, worst.Severity, worst.State, worst.Peak.WCU, c.severity, c.pages, c.flushed)
		}
	}
	show("Flushes beside honest traffic, for four minutes", out)
}

// shardsOf are requests to ten shards of a key, the n-th of which change may change.
func shardsOf(s stream, change func(r *sample.Record, n int)) stream {
	return func(random *rand.Rand, at int64) []sample.Record {
		all := s(random, at)
		for i := range all {
			n := random.IntN(10)
			all[i].PK = sample.KeyString(fmt.Sprintf("celebrity#SHARD_%d", n))
			change(&all[i], n)
		}
		return all
	}
}

// TestTablesOfFlushes holds that neither shards nor provisioned capacity are judged by a
// flush, or by callers of whom nothing says that they were not drawn as a whole.
func TestTablesOfFlushes(t *testing.T) {
	t.Parallel()
	none := func(*sample.Record, int) {}
	drawn := func(r *sample.Record, n int) { r.Caller, r.Rate = fmt.Sprintf("host-%d", n%2), 0.1 }
	// own gives three callers a shard each, to which they send two of three requests.
	own := func(r *sample.Record, n int) {
		caller := n % 3
		r.Caller, r.Rate = fmt.Sprintf("host-%d", caller), 0.1
		if r.Time%3 > 0 {
			r.PK = sample.KeyString(fmt.Sprintf("celebrity#SHARD_%d", caller))
		}
	}
	shards := []any{casebook.TooFewShards, casebook.UnevenShards, casebook.TooManyShards}
	for _, c := range []struct {
		name   string
		stream stream
		want   []any // of these and starvation
	}{
		{"5,000 a second, in flushes of 10 s", shardsOf(inFlushes("", "", 5000, 10_000, 417), none), nil},
		// As bursts look, and their times are exact.
		{"5,000 a second, in flushes of 2 s at whole seconds", shardsOf(inFlushes("", "", 5000, 2000, 0), none), []any{detect.SubjectTable, casebook.TooFewShards}},
		{"5,000 a second", shardsOf(honestly("", "", 5000, false), none), nil},
		{"12,000 a second", shardsOf(honestly("", "", 12_000, false), none), []any{detect.SubjectTable, casebook.TooFewShards}},
		{"two of ten callers, said to be 10%", shardsOf(honestly("", "", 1200, false), drawn), nil},
		{"12,000 a second, a tenth drawn by request", shardsOf(sampled(honestly("", "", 12_000, false)), none), []any{detect.SubjectTable, casebook.TooFewShards}},
		{"three callers with a shard each, said to be 10%", shardsOf(honestly("", "", 300, false), own), nil},
		{"the same, drawn by request", shardsOf(honestly("", "", 300, false), func(r *sample.Record, n int) {
			own(r, n)
			r.Calls = 1
		}), []any{casebook.UnevenShards}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(41, uint64(len(c.name))))
			shard := sketch.NewShard(sketch.Config{CounterBytes: 4096, Sets: 16})
			facts := &detect.TableFacts{Billing: detect.BillingProvisioned, WCU: 6000}
			judge := board.New(board.Options{Facts: func(detect.Target) *detect.TableFacts { return facts }})
			judge.Settle(scenario.Began-1, true)
			found := map[any]bool{}
			for at := scenario.Began; at < scenario.Began+60; at++ {
				for _, r := range c.stream(random, at) {
					if err := shard.Add(&r); err != nil {
						t.Fatal(err)
					}
				}
				for _, w := range scenario.SealedWindows(shard) {
					judge.Observe(&w)
				}
				judge.Settle(at, true)
				for _, f := range judge.Findings() {
					for _, about := range append(shards, detect.SubjectTable) {
						found[about] = found[about] || scenario.IsAbout(&f, about)
					}
				}
			}
			for _, k := range append(shards, detect.SubjectTable) {
				if found[k] != slices.Contains(c.want, k) {
					t.Errorf("%s is found %t", k, found[k])
				}
			}
		})
	}
}

// TestFoldedRecordsOverPartitions has a producer that writes one record for many requests,
// over eight partitions with a collector shard each: no shard sees enough records to tell
// a flush, and together they do.
func TestFoldedRecordsOverPartitions(t *testing.T) {
	t.Parallel()
	spread := func(records int, units float64) stream {
		return func(random *rand.Rand, at int64) (all []sample.Record) {
			for range records {
				r := of("k", "api", at, random.IntN(1000))
				r.N = int64(units / float64(records))
				all = append(all, r)
			}
			return all
		}
	}
	flushed := func(records int, units float64) stream {
		return func(random *rand.Rand, at int64) []sample.Record {
			if at%10 > 0 {
				return nil
			}
			all := spread(records, 10*units)(random, at)
			for i := range all {
				all[i].Time = at*1000 + 417
			}
			return all
		}
	}
	for _, c := range []struct {
		name   string
		stream stream
		pages  bool
	}{
		{"20 records a second of 1,520 units", spread(20, 1520), true},
		{"30 records a second of 1,520 units", spread(30, 1520), true},
		{"40 records a second of 1,520 units", spread(40, 1520), true},
		{"40 records a second of 700 units", spread(40, 700), false},
		{"40 records in each flush of 10 s of 700 units", flushed(40, 700), false},
		{"400 records in each flush of 10 s of 700 units", flushed(400, 700), false},
	} {
		for seed := range uint64(20) {
			random := rand.New(rand.NewPCG(43, seed))
			var shards []*sketch.Shard
			for range 8 {
				shards = append(shards, sketch.NewShard(sketch.Config{CounterBytes: 4096, Sets: 1}))
			}
			judge := board.New(board.Options{})
			judge.Settle(scenario.Began-1, true)
			paged := int64(0)
			for at := scenario.Began; at < scenario.Began+30; at++ {
				for _, r := range c.stream(random, at) {
					if err := shards[random.IntN(len(shards))].Add(&r); err != nil {
						t.Fatal(err)
					}
				}
				w := &sketch.Window{Target: sample.Target{Table: "orders"}, Second: at}
				for _, s := range shards {
					for _, part := range scenario.SealedWindows(s) {
						w.Merge(&part)
					}
				}
				judge.Observe(w)
				judge.Settle(at, true)
				for _, f := range judge.Findings() {
					if f.Subject == detect.KeyWrites && f.State == detect.Firing && f.Severity == detect.Critical && paged == 0 {
						paged = at - scenario.Began + 1
					}
				}
			}
			if pages := paged > 0; pages != c.pages || paged > 5 {
				t.Errorf("%s: paged %t after %d s, want %t within 5 s", c.name, pages, paged, c.pages)
			}
		}
	}
}

// TestFiguresOfAFlush holds the findings about a key of which ten seconds at a time are
// written down to what is known of it: its mean load and its part of the table's, from
// the first finding on, and not when in these ten seconds the load was.
func TestFiguresOfAFlush(t *testing.T) {
	t.Parallel()
	all := fieldWorlds(t)
	w := &all[slices.IndexFunc(all, func(w fieldWorld) bool { return w.Name == "flush-of-a-hot-key" })]
	judge := board.New(board.Options{Facts: w.facts})
	judge.Settle(w.Start.Unix()-1, true)
	looked := 0
	w.Windows(7, func(second int64, windows []sketch.Window) {
		for i := range windows {
			judge.Observe(&windows[i])
		}
		judge.Settle(second, true)
		if second%5 > 0 {
			return
		}
		found := judge.Findings()
		for i := range found {
			f := &found[i]
			if f.Key != "tenant#big" || f.Subject != detect.KeyWrites && f.Case != casebook.OneCaller {
				continue
			}
			looked++
			at := fmt.Sprintf("%s after %d seconds", f.Subject, second-w.Start.Unix()+1)
			if mean := f.Mean.WCU.Value; math.Abs(mean-1500) > 1 || f.Peak.WCU.Value < mean-0.01 || f.Peak.WCU.Value > 1510 || math.Abs(f.Consumed.WCU-f.Peak.WCU.Value) > 0.1 {
				t.Errorf("%s: a peak of %.0f and a mean of %.0f, %.0f of it served, want 1,500", at, f.Peak.WCU.Value, mean, f.Consumed.WCU)
			}
			if f.SecondsOver() != 0 || int64(f.PossibleSeconds) < f.Seconds-1 {
				t.Errorf("%s: %d seconds over and %d possibly, of %d", at, f.SecondsOver(), f.PossibleSeconds, f.Seconds)
			}
			if math.Abs(f.Share-1500./1800) > 0.005 {
				t.Errorf("%s: a share of %.3f, want that of 1,500 of 1,800", at, f.Share)
			}
			if s := f.Evidence.Split; s.Verdict == detect.SplitBursts || s.Seconds > 10 && math.Abs(s.Load-1500) > 30 {
				t.Errorf("%s: the split is %+v", at, s)
			}
			if f.Ground != detect.GroundBatchTimes || !f.Quality.InBatches() {
				t.Errorf("%s: the ground is %q", at, f.Ground)
			}
			if f.Advice[0].Fix != detect.FixOwnTimes {
				t.Errorf("%s: the first step is %+v", at, f.Advice[0])
			}
		}
	})
	if looked < 40 {
		t.Errorf("only %d findings were looked at", looked)
	}
}
