package board_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

var (
	evalIntervals = flag.Int("eval.intervals", 10_000, "how many intervals of each way of sampling are held to the truth")
	evalHours     = flag.Int("eval.hours", 2, "how many hours each shard count of the evaluation is advised for")
)

// drawn is a way of sampling calls, each of so many requests of a unit on one key.
type drawn struct {
	name  string
	calls float64 // a second, on average
	size  int     // requests of a call
	rate  float64
	// tell completes the record of one request of a call.
	tell func(r *sample.Record, call, size int)
}

func sized(r *sample.Record, _, size int) { r.Calls = 1 / float64(size) }
func named(r *sample.Record, call, _ int) { r.Call = fmt.Sprint(call) }
func alone(*sample.Record, int, int)      {}

// knowable are the ways of sampling whose intervals can be held to the truth.
var knowable = []drawn{
	{"by record, said", 800, 1, 0.01, sized},
	{"by record, assumed", 800, 1, 0.01, alone},
	{"by record, assumed, 10%", 800, 1, 0.1, alone},
	{"by call of 5, sizes", 160, 5, 0.01, sized},
	{"by call of 5, ids", 160, 5, 0.1, named},
	{"by call of 25, sizes", 24, 25, 0.01, sized},
	{"by call of 25, ids", 24, 25, 0.1, named},
	{"by call of 25, by time", 24, 25, 0.1, func(r *sample.Record, _, _ int) { r.Op = sample.BatchWriteItem }},
	{"by call of 100, sizes", 18, 100, 0.1, sized},
	{"folded after sampling", 24, 25, 0.1, func(r *sample.Record, _, size int) { r.N, r.Calls = int64(size), 1 }},
}

// second sends a second's sampled calls to a shard, and returns the true load.
func (d *drawn) second(random *rand.Rand, shard *sketch.Shard, at int64) (units int) {
	for call := range scenario.Poisson(random, d.calls) {
		units += d.size
		if random.Float64() >= d.rate {
			continue
		}
		r := sample.Record{
			Time: at*1000 + int64(random.IntN(1000)), Table: "orders", PK: sample.KeyString("k"),
			Op: sample.PutItem, WCU: 1000, Rate: d.rate, N: 1,
		}
		d.tell(&r, call, d.size)
		for range d.size / int(r.N) {
			if err := shard.Add(&r); err != nil {
				panic(err)
			}
		}
	}
	return units
}

// TestIntervalsCoverCalls holds the interval of 95% that is shown, and the bound that
// decides, to the truth of thousands of seconds, in each way of sampling that can be
// known.
func TestIntervalsCoverCalls(t *testing.T) {
	t.Parallel()
	out := table.NewWriter()
	out.AppendHeader(table.Row{"sampled", "calls a second", "rate", "intervals", "hold", "proven too much", "width"})
	for _, d := range knowable {
		random := rand.New(rand.NewPCG(21, uint64(len(d.name))))
		shard := sketch.NewShard(sketch.Config{CounterBytes: 4096, Sets: 1})
		held, tooMuch, width, largest := 0, 0, 0.0, 0.0
		for range brief(*evalIntervals, 3000) {
			truth := sample.Milli(1000 * d.second(random, shard, scenario.Began))
			var k sketch.KeyLoad
			if w := scenario.SealedWindows(shard); len(w) == 1 {
				k, largest = w[0].Keys[0], max(largest, w[0].Total.WriteLargest)
			}
			a := sampling.NewAmounts(k.Low.Write, 0, k.WriteSpread)
			high := a.High(largest)
			if a.Low <= truth && truth <= high {
				held++
			}
			if a.Proven > truth {
				tooMuch++
			}
			width += detect.Units(high - a.Low)
		}
		cover := float64(held) / float64(brief(*evalIntervals, 3000))
		out.AppendRow(table.Row{
			d.name, d.calls, sampledAs(d.rate), brief(*evalIntervals, 3000), fmt.Sprintf("%.2f%%", 100*cover), tooMuch,
			fmt.Sprintf("%.0f%%", 100*width/float64(brief(*evalIntervals, 3000))/(d.calls*float64(d.size))),
		})
		if cover < 0.94 || tooMuch > 0 {
			t.Errorf("%s: the interval holds in %.2f%% of seconds, and %d prove too much", d.name, 100*cover, tooMuch)
		}
	}
	show("Intervals of 95% where it can be known how requests were sampled", out)
}

// unknowable is a way of sampling that shows a load which is not there.
type unknowable struct {
	name string
	// second returns the records of one second; sampled is what was drawn for all of
	// the world.
	second func(random *rand.Rand, world *world, at int64) []sample.Record
	// callers reports that whole callers are drawn.
	callers bool
}

// world is traffic on one key whose truth is some units a second.
type world struct {
	truth float64
	hosts []int // those that were drawn
}

func one(at int64, ms int, rate float64) sample.Record {
	return sample.Record{
		Time: at*1000 + int64(ms), Table: "orders", PK: sample.KeyString("k"), Op: sample.PutItem, WCU: 1000, Rate: rate, N: 1,
	}
}

var unknowables = []unknowable{
	{"folded by 100, then sampled at 10%", func(random *rand.Rand, w *world, at int64) (all []sample.Record) {
		for range scenario.Poisson(random, w.truth/100*0.1) {
			r := one(at, random.IntN(1000), 0.1)
			r.N = 100
			all = append(all, r)
		}
		return all
	}, false},
	{"a second of a host folded, then sampled at 10%", func(random *rand.Rand, w *world, at int64) (all []sample.Record) {
		for range 10 {
			if random.Float64() < 0.1 {
				r := one(at, random.IntN(1000), 0.1)
				r.N = int64(max(1, scenario.Poisson(random, w.truth/10)))
				all = append(all, r)
			}
		}
		return all
	}, false},
	{"two of ten hosts, said to be 10%", func(random *rand.Rand, w *world, at int64) (all []sample.Record) {
		for host := range 2 {
			for range scenario.Poisson(random, w.truth/10) {
				r := one(at, random.IntN(1000), 0.1)
				r.Caller = fmt.Sprintf("host-%d", host)
				all = append(all, r)
			}
		}
		return all
	}, true},
	{"each host for itself, 10% of ten", func(random *rand.Rand, w *world, at int64) (all []sample.Record) {
		for _, host := range w.hosts {
			for range scenario.Poisson(random, w.truth/10) {
				r := one(at, random.IntN(1000), 0.1)
				r.Caller = fmt.Sprintf("host-%d", host)
				all = append(all, r)
			}
		}
		return all
	}, true},
}

// TestCannotBeProven holds that what such samples show as heat pages nobody, while
// every finding says that it cannot be proven. Above the limit, what is folded may be
// proven by the variance of whole records, and whole callers prove nothing.
func TestCannotBeProven(t *testing.T) {
	t.Parallel()
	out := table.NewWriter()
	out.AppendHeader(table.Row{"sampled", "truth", "worlds", "highest shown", "found", "critical", "paged", "cannot be proven"})
	for _, u := range unknowables {
		for _, truth := range []float64{500, 700, 1200} {
			worlds := brief(20, 2)
			found, critical, paged, unproven, silent, highest := 0, 0, 0, 0, 0, 0.0
			for seed := range uint64(worlds) {
				random := rand.New(rand.NewPCG(seed, uint64(len(u.name))))
				w := &world{truth: truth}
				for host := range 10 {
					if random.Float64() < 0.1 {
						w.hosts = append(w.hosts, host)
					}
				}
				all := judgedBy(300, 10, func(at int64) []sample.Record { return u.second(random, w, at) })
				all = slices.DeleteFunc(all, func(f detect.Finding) bool { return f.Subject != detect.KeyWrites })
				for i := range all {
					highest = max(highest, all[i].Peak.WCU.Value)
				}
				has := func(is func(detect.Finding) bool) int {
					if slices.ContainsFunc(all, is) {
						return 1
					}
					return 0
				}
				pages := has(func(f detect.Finding) bool { return f.State == detect.Firing })
				says := has(func(f detect.Finding) bool {
					return f.Quality.Sampling == detect.SamplingUnknowable
				})
				critical += has(func(f detect.Finding) bool { return f.Severity == detect.Critical })
				found, paged, unproven = found+min(1, len(all)), paged+pages, unproven+says
				silent += max(0, min(1, len(all))-pages-says)
			}
			out.AppendRow(table.Row{u.name, truth, worlds, fmt.Sprintf("%.0f", highest), found, critical, paged, unproven})
			if (truth < 1000 || u.callers) && critical+paged > 0 {
				t.Errorf("%s, truth %v: %d worlds critical, %d with a page, of %d", u.name, truth, critical, paged, worlds)
			}
			if silent > 0 || truth > 1000 && u.callers && unproven == 0 {
				t.Errorf("%s, truth %v: %d of %d worlds with a finding say that it cannot be proven, and %d neither that nor page", u.name, truth, unproven, found, silent)
			}
			if truth > 1000 && found < worlds/2 {
				t.Errorf("%s, truth %v: %d of %d worlds have a finding", u.name, truth, found, worlds)
			}
		}
	}
	show("Ways of sampling from which nothing can be proven", out)
}

// TestWholeHostsWithoutNames has two of ten hosts draw all of their requests, at what they
// take for 10%: 700 units look like 1,400. Where no request names its caller nothing
// shows it, and the finding names the risk.
func TestWholeHostsWithoutNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tell func(r *sample.Record)
		risk bool
	}{
		"no names":     {func(*sample.Record) {}, true},
		"names":        {func(r *sample.Record) { r.Caller = fmt.Sprint("host-", r.Time%2) }, false},
		"one by one":   {func(r *sample.Record) { r.Calls = 1 }, false},
		"all are seen": {func(r *sample.Record) { r.Rate, r.N = 1, 10 }, false},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		found := judgedBy(60, 10, func(at int64) (all []sample.Record) {
			for range scenario.Poisson(random, 2*700/10) {
				r := one(at, random.IntN(1000), 0.1)
				c.tell(&r)
				all = append(all, r)
			}
			return all
		})
		i := slices.IndexFunc(found, func(f detect.Finding) bool { return f.Subject == detect.KeyWrites })
		if i < 0 {
			t.Errorf("%s: nothing is found", name)
			continue
		}
		if f := found[i]; slices.Contains(f.Quality.CannotSee, detect.BlindHosts) != c.risk {
			t.Errorf("%s: cannot see %q", name, f.Quality.CannotSee)
		}
	}
}

// judged returns the findings about some seconds of records, with those that fired
// when it looked at them before, every few seconds.
func judgedBy(seconds, every int64, second func(at int64) []sample.Record) []detect.Finding {
	shard := sketch.NewShard(sketch.Config{CounterBytes: 4096, Sets: 1})
	judge := board.New(board.Options{})
	judge.Settle(scenario.Began-1, true)
	var fired []detect.Finding
	for at := scenario.Began; at < scenario.Began+seconds; at++ {
		for _, r := range second(at) {
			if err := shard.Add(&r); err != nil {
				panic(err)
			}
		}
		for _, w := range scenario.SealedWindows(shard) {
			judge.Observe(&w)
		}
		judge.Settle(at, true)
		if (at-scenario.Began)%every == every-1 {
			for _, f := range judge.Findings() { // what fired at any time would have paged
				if f.State == detect.Firing && !slices.ContainsFunc(fired, func(o detect.Finding) bool { return o.Subject == f.Subject }) {
					fired = append(fired, f)
				}
			}
		}
	}
	found := judge.Findings()
	for _, f := range fired {
		if !slices.ContainsFunc(found, func(o detect.Finding) bool { return o.Subject == f.Subject && o.State == detect.Firing }) {
			found = append(found, f)
		}
	}
	return found
}

// TestFlushedTimes judges producers whose records have the time of a flush, and
// honest ones beside them: a key at 700 pages nobody however it is flushed, and what
// is hot in its seconds is found as before.
func TestFlushedTimes(t *testing.T) {
	t.Parallel()
	out := table.NewWriter()
	out.AppendHeader(table.Row{"times", "a second", "shown", "severity", "state", "says so"})
	// flushed sends every few seconds what has gathered, within so many ms.
	flushed := func(every int64, units float64, spread int, change func(*sample.Record)) func(*rand.Rand, int64) []sample.Record {
		return func(random *rand.Rand, at int64) (all []sample.Record) {
			if at%every != every-1 {
				return nil
			}
			for range scenario.Poisson(random, units*float64(every)) {
				r := one(at, 417+random.IntN(spread), 1)
				change(&r)
				all = append(all, r)
			}
			return all
		}
	}
	none := func(*sample.Record) {}
	steady := func(units float64) func(*rand.Rand, int64) []sample.Record {
		return func(random *rand.Rand, at int64) (all []sample.Record) {
			for range scenario.Poisson(random, units) {
				all = append(all, one(at, random.IntN(1000), 1))
			}
			return all
		}
	}
	for n, c := range []struct {
		name    string
		units   float64
		second  func(*rand.Rand, int64) []sample.Record
		pages   bool
		flushed bool
	}{
		{"flushes of 2 s at one ms", 700, flushed(2, 700, 1, none), false, false},
		{"flushes of 2 s within 20 ms", 700, flushed(2, 700, 20, none), false, false},
		{"flushes of 10 s", 700, flushed(10, 700, 1, none), false, false},
		{"flushes of 10 s by a caller", 700, flushed(10, 700, 1, func(r *sample.Record) { r.Caller = "lambda" }), false, false},
		{"a minute at one ms", 700, flushed(60, 700, 1, none), false, false},
		// Times of whole seconds may be a folded second's. What is above the limit in one second
		// only stays pending, and pages nobody.
		{"a minute in one record", 200, func(_ *rand.Rand, at int64) []sample.Record {
			if at%60 != 0 {
				return nil
			}
			r := one(at, 0, 1)
			r.N = 12_000
			return []sample.Record{r}
		}, false, false},
		{"flushes of 10 s of a hot key", 1500, flushed(10, 1500, 1, none), false, true},
		{"flushes of 1 s", 700, flushed(1, 700, 1, none), false, false},
		{"flushes of 1 s of a hot key", 1500, flushed(1, 1500, 1, none), true, false},
		{"requests' own", 1500, steady(1500), true, false},
		{"a burst of a second in five", 800, func(random *rand.Rand, at int64) []sample.Record {
			if at%5 > 1 {
				return steady(20)(random, at)
			}
			return steady(2000)(random, at)
		}, true, false},
		{"bursts, folded by the middleware", 800, func(random *rand.Rand, at int64) []sample.Record {
			if at%5 > 1 {
				return nil
			}
			r := one(at, 0, 1)
			r.N, r.Calls = int64(scenario.Poisson(random, 2000)), 1
			r.Calls = float64(r.N)
			return []sample.Record{r}
		}, true, false},
	} {
		if testing.Short() && n%3 > 0 {
			continue
		}
		random := rand.New(rand.NewPCG(31, uint64(len(c.name))))
		var worst detect.Finding
		for _, f := range judgedBy(600, 10, func(at int64) []sample.Record { return c.second(random, at) }) {
			if f.Subject == detect.KeyWrites {
				worst = f
			}
		}
		says := worst.Quality.InBatches()
		out.AppendRow(table.Row{c.name, c.units, fmt.Sprintf("%.0f", worst.Peak.WCU.Value), worst.Severity, worst.State, says})
		if pages := worst.State == detect.Firing; pages != c.pages || says != c.flushed || c.flushed && worst.Severity != detect.Warning || !pages && worst.Severity == detect.Critical && worst.SecondsOver() > 10 {
			t.Errorf("%s: %s %s of %+v, want pages %t", c.name, worst.Severity, worst.State, worst.Peak.WCU, c.pages)
		}
	}
	show("Times of requests, and times of a flush, for ten minutes", out)
}

// rangeRate is the highest sampling rate that leaves a range of shards open.
const rangeRate = 0.01

// shardRange returns the range of shard counts that the bounds of a sampled key's peak
// leave open, at rates that leave one: the one count where no other fits.
func shardRange(f *detect.Finding, rate float64) (low, high int, open bool) {
	if rate > rangeRate {
		return f.Shards, f.Shards, false
	}
	peak, limit := detect.Side(f.Subject, f.Peak.WCU, f.Peak.RCU), detect.Limit(f.Subject)
	low = detect.Shards(detect.Milli(peak.Low), limit, detect.DefaultHeadroom)
	high = detect.Shards(detect.Milli(peak.High), limit, detect.DefaultHeadroom)
	return low, high, low < high
}

// TestAdvisedShards compares the shard counts that hours of sampled traffic give with
// those of their true peaks: the count, and at 1% the range that is shown.
func TestAdvisedShards(t *testing.T) {
	t.Parallel()
	out := table.NewWriter()
	out.AppendHeader(table.Row{"sampled", "hours", "within one or 10%", "median of peaks", "most", "a range is shown", "in the range", "widest"})
	for _, c := range []struct{ rate, want float64 }{{1, 1}, {0.1, 0.95}, {0.01, 0.90}} {
		var near, hours, ranges, within, widest int
		var ratios []float64
		for shape := range 4 {
			for seed := range uint64(brief(*evalHours, 1)) {
				f, truth := hourOf(shape, c.rate, seed)
				want := detect.Shards(sample.Milli(1000*truth), detect.PartitionWrite, detect.DefaultHeadroom)
				hours++
				if wrong := math.Abs(float64(f.Shards - want)); wrong <= 1 || wrong <= 0.1*float64(want) {
					near++
				}
				ratios = append(ratios, f.Peak.WCU.Value/float64(truth))
				low, high, shown := shardRange(&f, c.rate)
				if low <= want && want <= high {
					within++
				}
				if shown {
					ranges++
				}
				widest = max(widest, high-low)
			}
		}
		slices.Sort(ratios)
		share, inRange := float64(near)/float64(hours), float64(within)/float64(hours)
		out.AppendRow(table.Row{sampledAs(c.rate), hours, fmt.Sprintf("%.1f%%", 100*share), fmt.Sprintf("%.2f", ratios[len(ratios)/2]), fmt.Sprintf("%.2f", ratios[len(ratios)-1]), ranges, fmt.Sprintf("%.1f%%", 100*inRange), widest})
		if share < c.want || c.rate == 1 && ratios[0] != 1 {
			t.Errorf("sampled at %s: %.1f%% of %d shard counts are near the truth's, want %.0f%%", sampledAs(c.rate), 100*share, hours, 100*c.want)
		}
		if c.rate <= rangeRate && (inRange < c.want || ranges == 0) {
			t.Errorf("sampled at %s: the truth's count is in %.1f%% of the ranges, want %.0f%%; %d of %d show one", sampledAs(c.rate), 100*inRange, 100*c.want, ranges, hours)
		}
	}
	show("Shards advised after an hour, beside those that its highest second needs", out)
}

// hourOf returns the finding about an hour of one key, and its true highest second.
func hourOf(shape int, rate float64, seed uint64) (f detect.Finding, truth int) {
	random := rand.New(rand.NewPCG(seed, uint64(1000+shape)))
	mean := 1100 + 3900*random.Float64()
	drift := 0.0
	all := judgedBy(3600, 3600, func(at int64) []sample.Record {
		load := mean
		switch shape {
		case 1: // wanders by some 7%
			drift = 0.99*drift + 0.01*random.NormFloat64()
			load *= max(0.5, 1+drift)
		case 2: // grows by a half
			load *= 1 + 0.5*float64(at-scenario.Began)/3600
		case 3: // half a minute a quarter higher
			if second := at - scenario.Began; second >= 1800 && second < 1830 {
				load *= 1.25
			}
		}
		n := scenario.Poisson(random, load)
		truth = max(truth, n)
		seen := float64(n) * rate
		if rate < 1 {
			seen = math.Round(seen + math.Sqrt(seen*(1-rate))*random.NormFloat64())
		}
		if seen < 1 {
			return nil
		}
		r := one(at, 0, rate)
		r.N, r.Calls = int64(seen), seen
		return []sample.Record{r}
	})
	for i := range all {
		if all[i].Subject == detect.KeyWrites {
			f = all[i]
		}
	}
	return f, truth
}
