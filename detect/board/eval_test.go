package board_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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
	evalSeconds = flag.Int("eval.seconds", 12, "how many seconds each scenario of the evaluation lasts")
	evalSeeds   = flag.Int("eval.seeds", 1, "how many seeds each scenario has")
	evalReasons = flag.Int("eval.reasons", 5, "how many seeds each scenario has whose reason is looked for")
)

// request is one request of a scenario.
type request struct {
	key   string
	units float64
	read  bool
}

// seededScenario is traffic that a seed makes.
type seededScenario struct {
	name  string
	index string
	// each makes the requests of a second, the share of the day being 0 to 1.
	each func(r *rand.Rand, second int, day float64) []request
}

// brief returns a smaller number of repetitions with -short.
func brief(usual, short int) int {
	if testing.Short() {
		return min(usual, short)
	}
	return usual
}

// zipfRequests draws keys of which the i-th has a part as 1/(i+1).
func zipfRequests(r *rand.Rand, n int, requests int, units func(*rand.Rand) float64) (all []request) {
	z := rand.NewZipf(r, 1.2, 1, uint64(n-1))
	for range requests {
		all = append(all, request{key: fmt.Sprintf("user#%d", z.Uint64()), units: units(r)})
	}
	return all
}

// withSpike adds so many requests on one key, Poisson.
func withSpike(r *rand.Rand, to []request, key string, mean float64, read bool) []request {
	for range scenario.Poisson(r, mean) {
		to = append(to, request{key: key, units: 1, read: read})
	}
	return to
}

// seededScenarios are those of the evaluation.
var seededScenarios = []seededScenario{
	{name: "Zipf", each: func(r *rand.Rand, _ int, _ float64) []request {
		return zipfRequests(r, 5000, 6000, scenario.Constant(1))
	}},
	{name: "Zipf, unequal items", each: func(r *rand.Rand, _ int, _ float64) []request { return zipfRequests(r, 5000, 3000, scenario.Unequal) }},
	{name: "planted", each: func(r *rand.Rand, _ int, _ float64) []request {
		all := zipfRequests(r, 20_000, 1500, scenario.Constant(1))
		for i, mean := range []float64{900, 980, 1020, 1300, 4000} {
			all = withSpike(r, all, fmt.Sprintf("planted#%d", i), mean, false)
		}
		return withSpike(r, all, "planted#reads", 3100, true)
	}},
	{name: "rolling", each: func(r *rand.Rand, _ int, _ float64) []request {
		return withSpike(r, zipfRequests(r, 5000, 500, scenario.Constant(1)), "2025-11-21T02", 1500, false)
	}},
	{name: "GSI", index: "by-status", each: func(r *rand.Rand, _ int, _ float64) []request {
		return withSpike(r, withSpike(r, nil, "open", 1900, false), "closed", 300, false)
	}},
	{name: "flash crowd", each: func(r *rand.Rand, second int, _ float64) []request {
		mean := 50.0
		if second%5 == 3 {
			mean = 6000
		}
		return withSpike(r, zipfRequests(r, 5000, 1000, scenario.Constant(1)), "event#1", mean, false)
	}},
	{name: "diurnal growth", each: func(r *rand.Rand, _ int, day float64) []request {
		return withSpike(r, zipfRequests(r, 5000, 1000, scenario.Constant(1)), "tenant#big", 700+600*math.Sin(day*math.Pi), false)
	}},
	{name: "all even", each: func(r *rand.Rand, _ int, _ float64) (all []request) {
		for range 8000 {
			all = append(all, request{key: fmt.Sprintf("id#%d", r.IntN(100_000)), units: 1})
		}
		return all
	}},
}

// score is what an evaluation counts.
type score struct {
	over, claimed, right  int // key-seconds above the limit; found to be; both
	intervals, held       int
	shardErrors, findings int
	mostShardError        int
}

func (s *score) add(o score) {
	s.over, s.claimed, s.right = s.over+o.over, s.claimed+o.claimed, s.right+o.right
	s.intervals, s.held = s.intervals+o.intervals, s.held+o.held
	s.shardErrors, s.findings = s.shardErrors+o.shardErrors, s.findings+o.findings
	s.mostShardError = max(s.mostShardError, o.mostShardError)
}

// mixedRates gives every request a rate of its own.
const mixedRates = 0

// evaluate sends a scenario through so many collectors, each request sampled at the
// rate, and compares the verdicts with the truth.
func evaluate(w seededScenario, rate float64, collectors int, seed uint64) (s score) {
	r := rand.New(rand.NewPCG(seed, uint64(len(w.name))))
	shards := make([]*sketch.Shard, collectors)
	for i := range shards {
		shards[i] = sketch.NewShard(sketch.Config{Seed: scenario.Seed, CounterBytes: 1 << 16})
	}
	judge := board.New(board.Options{})
	judge.Settle(scenario.Began-1, true)
	peaks := map[string]sketch.Load{}
	seconds := brief(*evalSeconds, 6)
	for second := range seconds {
		truth := map[string]sketch.Load{}
		for _, a := range w.each(r, second, float64(second)/float64(seconds)) {
			l := truth[a.key]
			record := sample.Record{
				Time: (scenario.Began+int64(second))*1000 + int64(r.IntN(1000)), Table: "orders", Index: w.index, PK: sample.KeyString(a.key), N: 1,
				Op: sample.UpdateItem, Rate: rate,
			}
			if a.read {
				record.Op, record.RCU = sample.GetItem, scenario.Milli(a.units)
				l.Read += record.RCU
			} else {
				record.WCU = scenario.Milli(a.units)
				l.Write += record.WCU
			}
			truth[a.key] = l
			if rate == mixedRates {
				record.Rate = []float64{1, 0.1, 0.01}[r.IntN(3)]
			}
			if r.Float64() < record.Rate {
				if err := shards[r.IntN(collectors)].Add(&record); err != nil {
					panic(err)
				}
			}
		}
		seen := &sketch.Window{Target: sample.Target{Table: "orders", Index: w.index}, Second: scenario.Began + int64(second)}
		for _, shard := range shards {
			for _, part := range scenario.SealedWindows(shard) {
				seen.Merge(&part)
			}
		}
		judge.Observe(seen)
		judge.Settle(seen.Second, true)
		s.second(seen, truth, peaks)
	}
	s.judged(judge.Findings(), peaks)
	return s
}

// second compares one second with the truth.
func (s *score) second(seen *sketch.Window, truth, peaks map[string]sketch.Load) {
	for key, was := range truth {
		peak := peaks[key]
		peaks[key] = sketch.Load{Read: max(peak.Read, was.Read), Write: max(peak.Write, was.Write)}
		k, _ := seen.Key(scenario.Hash("orders", seen.Index, sample.KeyString(key)))
		write := sampling.NewAmounts(k.Low.Write, k.Err.Write, k.WriteSpread)
		read := sampling.NewAmounts(k.Low.Read, k.Err.Read, k.ReadSpread)
		for _, c := range []struct{ was, proven, low, high, limit sample.Milli }{
			{was.Write, write.Proven, write.Low, write.High(seen.Total.WriteLargest), detect.PartitionWrite},
			{was.Read, read.Proven, read.Low, read.High(seen.Total.ReadLargest), detect.PartitionRead},
		} {
			over, claimed := c.was > c.limit, c.proven > c.limit
			if over {
				s.over++
			}
			if claimed {
				s.claimed++
			}
			if over && claimed {
				s.right++
			}
			if c.was >= c.limit/10 {
				s.intervals++
				if c.low <= c.was && c.was <= c.high {
					s.held++
				}
			}
		}
	}
}

// judged compares the advised shards with those that the true peak needs.
func (s *score) judged(found []detect.Finding, peaks map[string]sketch.Load) {
	for _, f := range found {
		want := 0
		switch f.Subject {
		case detect.KeyWrites:
			want = detect.Shards(peaks[string(f.Key)].Write, detect.PartitionWrite, detect.DefaultHeadroom)
		case detect.KeyReads:
			want = detect.Shards(peaks[string(f.Key)].Read, detect.PartitionRead, detect.DefaultHeadroom)
		default:
			continue
		}
		s.findings++
		if wrong := int(math.Abs(float64(f.Shards - want))); wrong > 0 {
			s.shardErrors++
			s.mostShardError = max(s.mostShardError, wrong)
		}
	}
}

func ratio(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4f", float64(part)/float64(whole))
}

// show prints a table of the evaluation when tests are verbose.
func show(title string, t table.Writer) {
	if testing.Verbose() {
		t.SetStyle(table.StyleLight)
		fmt.Printf("\n%s\n%s\n", title, t.Render())
	}
}

// TestEvaluation sends seeded scenarios through sketches, complete and sampled, over
// one collector and four, and holds every second's verdict to an exact oracle. `make
// eval` prints it, with more seconds and seeds.
func TestEvaluation(t *testing.T) {
	t.Parallel()
	out := table.NewWriter()
	out.AppendHeader(table.Row{"scenario", "sampled", "collectors", "over", "recall", "precision", "intervals", "hold", "findings", "wrong shards", "by at most"})
	for _, rate := range []float64{1, 0.1, 0.01, mixedRates} {
		var all score
		for _, w := range seededScenarios {
			for _, collectors := range []int{1, 4} {
				var s score
				for seed := range *evalSeeds {
					s.add(evaluate(w, rate, collectors, uint64(seed)+1))
				}
				all.add(s)
				out.AppendRow(table.Row{w.name, sampledAs(rate), collectors, s.over, ratio(s.right, s.over), ratio(s.right, s.claimed),
					s.intervals, ratio(s.held, s.intervals), s.findings, s.shardErrors, s.mostShardError})
				if s.claimed != s.right {
					t.Errorf("%s at %s over %d: %d of %d seconds are called over the limit and were not", w.name, sampledAs(rate), collectors, s.claimed-s.right, s.claimed)
				}
				if rate == 1 && (s.right != s.over || s.held != s.intervals || s.shardErrors > 0) {
					t.Errorf("%s unsampled over %d collectors: %+v", w.name, collectors, s)
				}
			}
		}
		if cover := float64(all.held) / float64(all.intervals); cover < 0.94 || all.over == 0 {
			t.Errorf("sampled at %s: the intervals hold %.2f%% of %d key-seconds, %d of which were over", sampledAs(rate), 100*cover, all.intervals, all.over)
		}
		out.AppendRow(table.Row{"all", sampledAs(rate), "", all.over, ratio(all.right, all.over), ratio(all.right, all.claimed),
			all.intervals, ratio(all.held, all.intervals), all.findings, all.shardErrors, all.mostShardError})
		out.AppendSeparator()
	}
	show("Seconds over the limit, and the intervals of 95%, against an exact oracle", out)
}

func sampledAs(rate float64) string {
	if rate == mixedRates {
		return "mixed"
	}
	return fmt.Sprintf("%g%%", 100*rate)
}

// TestEvaluationOfThrottling judges a partition that throttles what is above 1,000
// write units a second: the samples show what was throttled, or, as a stream does,
// only what was served.
func TestEvaluationOfThrottling(t *testing.T) {
	t.Parallel()
	out := table.NewWriter()
	out.AppendHeader(table.Row{"requested a second", "throttling seen", "severity", "state", "peak", "over", "plateau"})
	for _, requested := range []float64{1050, 1300, 3000} {
		for _, seen := range []bool{true, false} {
			f := throttledFinding(requested, seen)
			if f == nil || f.Severity != detect.Critical || f.State != detect.Firing {
				t.Errorf("%v requested, throttling seen %t: %+v", requested, seen, f)
				continue
			}
			out.AppendRow(table.Row{requested, seen, f.Severity, f.State, fmt.Sprintf("%.0f", f.Peak.WCU.Value), f.SecondsOver(), f.SaturatedSeconds})
		}
	}
	show("A table that really throttles at 1,000 WCU", out)
}

func throttledFinding(requested float64, throttling bool) *detect.Finding {
	r := rand.New(rand.NewPCG(uint64(requested), 9))
	shard := sketch.NewShard(sketch.Config{Seed: scenario.Seed})
	judge := board.New(board.Options{})
	judge.Settle(scenario.Began-1, true)
	for second := range int64(*evalSeconds) {
		for i := range scenario.Poisson(r, requested) {
			record := sample.Record{Time: (scenario.Began + second) * 1000, Table: "orders", PK: sample.KeyString("k"), Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1, Change: !throttling}
			if i >= 1000 {
				if !throttling {
					break
				}
				record.Throttle = keyRangeCause
			}
			if err := shard.Add(&record); err != nil {
				panic(err)
			}
		}
		for _, w := range scenario.SealedWindows(shard) {
			judge.Observe(&w)
		}
		judge.Settle(scenario.Began+second, true)
	}
	for _, f := range judge.Findings() {
		if f.Subject == detect.KeyWrites {
			return &f
		}
	}
	return nil
}

// scenariosByGround returns stories of which the ground is known.
func scenariosByGround(r *rand.Rand) map[detect.Ground][]story {
	units := 1500 + 3000*r.Float64()
	shift := r.IntN(1 << 20)
	moved := func(f func(int) sample.Key) func(int) sample.Key {
		return func(i int) sample.Key { return f(i + shift) }
	}
	of := func(a workload, changes ...func(*story)) story {
		a.key, a.units = cmpString(a.key, fmt.Sprintf("k%d", shift)), math.Round(units)
		s := story{workloads: []workload{a}}
		for _, change := range changes {
			change(&s)
		}
		return s
	}
	lsi := withFacts(detect.TableFacts{LSIs: []string{"by-date"}})
	return map[detect.Ground][]story{
		detect.GroundItem:        {of(workload{sk: mostly(8)}), of(workload{sk: oneItem}), of(workload{}, withFacts(detect.TableFacts{KeySchema: sample.Keys("pk")}))},
		detect.GroundSortKey:     {of(workload{sk: moved(rising)}), of(workload{sk: falling})},
		detect.GroundMoving:      {of(workload{sk: moved(inTurn)})},
		detect.GroundPeriod:      {of(workload{key: "events#2025-11-21", sk: moved(shuffled)})},
		detect.GroundLocalIndex:  {of(workload{sk: moved(shuffled)}, lsi)},
		detect.GroundSplit:       {of(workload{sk: moved(shuffled)}), of(workload{sk: moved(shuffled), index: "by-status"})},
		detect.GroundScan:        {{workloads: append(warm(""), workload{op: sample.Scan, reads: true, units: math.Round(units), each: 100, cause: "TableReadKeyRangeThroughputExceeded", throttled: 500})}},
		detect.GroundProvisioned: {{workloads: warm(provisionedCause)}},
		undecided:                {of(workload{})},
	}
}

// TestEvaluationOfReasons classifies stories whose reason is known, and prints the
// confusion matrix.
func TestEvaluationOfReasons(t *testing.T) {
	t.Parallel()
	known := []detect.Ground{
		detect.GroundItem, detect.GroundPeriod, detect.GroundLocalIndex, detect.GroundSortKey, detect.GroundMoving, detect.GroundScan,
		detect.GroundSplit, detect.GroundProvisioned, undecided,
	}
	for _, rate := range []float64{1, 0.1} {
		matrix := map[detect.Ground]map[detect.Ground]int{}
		right, total := 0, 0
		for seed := range brief(*evalReasons, 1) {
			for want, scenarios := range scenariosByGround(rand.New(rand.NewPCG(uint64(seed), 3))) {
				for _, s := range scenarios {
					got := s.sampled(rate).classified()
					if matrix[want] == nil {
						matrix[want] = map[detect.Ground]int{}
					}
					matrix[want][got]++
					total++
					if got == want {
						right++
					}
				}
			}
		}
		out := table.NewWriter()
		header := table.Row{"is \\ found"}
		for _, r := range append(slices.Clone(known), "nothing") {
			header = append(header, strings.ToLower(string(r)))
		}
		out.AppendHeader(header)
		for _, want := range known {
			row := table.Row{want}
			for _, got := range append(slices.Clone(known), "nothing") {
				row = append(row, matrix[want][got])
			}
			out.AppendRow(row)
		}
		show(fmt.Sprintf("Reasons, sampled at %s: %s right", sampledAs(rate), ratio(right, total)), out)
		if rate == 1 && right != total {
			t.Errorf("%d of %d reasons are right: %v", right, total, matrix)
		}
		// Sampled, a reason may be left open; a wrong one would mislead.
		for want, classified := range matrix {
			for got, n := range classified {
				if got != want && got != undecided && got != "nothing" {
					t.Errorf("sampled at %s, %d times %s is called %s", sampledAs(rate), n, want, got)
				}
			}
		}
	}
}

// sampled returns the story, of which a part of the requests is seen.
func (s story) sampled(rate float64) story {
	s.workloads = slices.Clone(s.workloads)
	for i := range s.workloads {
		if s.workloads[i].cause == "" && rate < 1 {
			s.workloads[i].rate = rate
			s.workloads[i].units *= rate // each stands for 1/rate
		}
	}
	s.lasts = detect.SplitSeconds
	return s
}

// classified returns the ground of the worst finding that pages, or would.
func (s story) classified() detect.Ground {
	for _, f := range paging(s.findings()) {
		return verdict(f.Ground)
	}
	return "nothing"
}
