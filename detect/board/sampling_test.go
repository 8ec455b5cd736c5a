package board_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestNoFalsePages watches a key at 79% of the limit for 24 hours at 1% sampling of
// calls, which carry one item or many, as the records of each form say it.
func TestNoFalsePages(t *testing.T) {
	t.Parallel()
	writes, reads := 790.0, 2370.0
	for _, c := range []struct {
		name  string
		units float64
		size  int
		tell  func(r *sample.Record, call, size int)
	}{
		{"single writes", writes, 1, alone},
		{"batches of 25, sizes", writes, 25, sized},
		{"batches of 25, ids", writes, 25, named},
		{"batches of 25, unnamed", writes, 25, func(r *sample.Record, call, _ int) { r.Op, r.Time = sample.BatchWriteItem, r.Time+int64(call) }},
		{"reads of 100, sizes", reads, 100, sized},
		{"reads of 100, ids", reads, 100, named},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(5, 6))
			judge := board.New(board.Options{})
			shard := sketch.NewShard(sketch.Config{CounterBytes: 4096, Sets: 1})
			judge.Settle(scenario.Began-1, true)
			hours := int64(brief(24, 4))
			if c.size > 1 && *evalHours < 10 {
				hours = int64(brief(4, 1)) // all 24 in make eval
			}
			for second := range hours * 3600 {
				at := scenario.Began + second
				for call := range scenario.Poisson(random, c.units/float64(c.size)*0.01) { // the sampled ones alone
					r := sample.Record{Time: at * 1000, Table: "orders", PK: sample.KeyString("user#42"), Op: sample.UpdateItem, WCU: 1000, Rate: 0.01, N: 1}
					if c.units == reads {
						r.Op, r.WCU, r.RCU = sample.GetItem, 0, 1000
					}
					c.tell(&r, call, c.size)
					for range c.size {
						if err := shard.Add(&r); err != nil {
							t.Fatal(err)
						}
					}
				}
				if second%4 == 3 {
					for _, w := range scenario.SealedWindows(shard) {
						judge.Observe(&w)
					}
					judge.Settle(at, true)
				}
				if second%60 == 59 {
					if found := judge.Findings(); len(found) != 0 {
						t.Fatalf("after %d s a key at 79%% is found: %+v", second, found)
					}
				}
			}
		})
	}
}

// TestSampledHeatIsFound watches a key at 1,500 writes a second at 1% sampling:
// single seconds prove nothing, the mean of a minute does.
func TestSampledHeatIsFound(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	judge := board.New(board.Options{})
	shard := sketch.NewShard(sketch.Config{})
	key := scenario.Traffic{Requests: 1500, Units: scenario.Constant(1), Rate: scenario.Constant(0.01)}
	judge.Settle(scenario.Began-1, true)
	for second := range int64(60) {
		key.Second(random, shard, scenario.Began+second)
		for _, w := range scenario.SealedWindows(shard) {
			judge.Observe(&w)
		}
		judge.Settle(scenario.Began+second, true)
	}
	found := judge.Findings()
	if len(found) != 1 || found[0].Severity != detect.Critical || found[0].State != detect.Firing {
		t.Fatalf("found %+v", found)
	}
	f := found[0]
	if f.SecondsOver() != 0 || f.PossibleSeconds < 50 || f.Mean.WCU.Low > 1500 || f.Mean.WCU.High < 1500 {
		t.Errorf("over %d, possible %d, mean %+v", f.SecondsOver(), f.PossibleSeconds, f.Mean.WCU)
	}
}

// TestRestoredSampling holds that the judge after this one goes on from the samples: it neither
// forgets how they were drawn nor takes the peak for exact.
func TestRestoredSampling(t *testing.T) {
	t.Parallel()
	for name, tell := range map[string]func(r *sample.Record, call, size int){"said": sized, "assumed": alone} {
		way := drawn{name, 1500, 1, 0.1, tell}
		random := rand.New(rand.NewPCG(12, 12))
		shard := sketch.NewShard(sketch.Config{Seed: scenario.Seed})
		before := board.New(board.Options{})
		before.Settle(scenario.Began-1, true)
		var observed []*sketch.Window
		for second := range int64(30) {
			way.second(random, shard, scenario.Began+second)
			for _, w := range scenario.SealedWindows(shard) {
				before.Observe(&w)
				observed = append(observed, &w)
			}
			before.Settle(scenario.Began+second, true)
		}
		found := before.Findings()
		if len(found) != 1 || found[0].Quality.Rate == nil || *found[0].Quality.Rate != 0.1 || found[0].Quality.Estimated == nil || *found[0].Quality.Estimated {
			t.Fatalf("%s: found %+v", name, found)
		}
		again := handOver(t, before, board.Options{}, observed).Findings()
		if !reflect.DeepEqual(again, found) {
			t.Errorf("%s: restored as %+v\nwas %+v", name, again, found)
		}
		if want := map[string]detect.Sampling{"said": detect.SamplingByCall, "assumed": detect.SamplingAssumed}[name]; found[0].Quality.Sampling != want {
			t.Errorf("%s is %q, want %q", name, found[0].Quality.Sampling, want)
		}
	}
}

// TestPeakOfASampledTable holds the peak of a table that lacks capacity to the truth at each
// sampling rate, for a flat load and for half a minute of more. The highest of many noisy seconds
// would be up to twice as much.
func TestPeakOfASampledTable(t *testing.T) {
	t.Parallel()
	for name, load := range map[string][]scenario.WorldLoad{
		"writes":                {{WCU: 3000, Throttled: 600, Op: "PutItem", Size: 1024}},
		"reads":                 {{RCU: 3000, Throttled: 600, Op: "GetItem", Size: 4096, Strong: true}},
		"large and small":       {{WCU: 1500, Throttled: 300, Op: "PutItem", Size: 1024}, {WCU: 1500, Throttled: 300, Op: "PutItem", Size: 8 << 10}},
		"half a minute of more": {{WCU: 3000, Throttled: 600, Op: "PutItem", Size: 1024}, {WCU: 900, Throttled: 900, Op: "PutItem", Size: 1024, From: 60, To: 90}},
	} {
		peakAt := func(rate float64) detect.Figure {
			w := fieldWorld{}
			w.Seconds, w.Start, w.Sampling.Rate, w.Sampling.How = 120, time.Unix(scenario.Began, 0), rate, "request"
			for _, l := range load {
				l.Table, l.Key, l.Keys, l.Sort = "orders", "o#{n}", 100, "none"
				l.Reason = map[bool]string{false: "TableWriteProvisionedThroughputExceeded", true: "TableReadProvisionedThroughputExceeded"}[l.RCU > 0]
				w.Load = append(w.Load, l)
			}
			f := single(t, w.judge().found, detect.SubjectTable)
			if f == nil {
				t.Fatalf("%s at %g: nothing is found", name, rate)
			}
			return detect.SideOf(f, f.Peak.WCU, f.Peak.RCU)
		}
		truth := peakAt(0).Value // which sees all
		for _, rate := range []float64{0.1, 0.01} {
			if peak := peakAt(rate); peak.Value < 0.9*truth || peak.Value > 1.1*truth || peak.Low > truth || peak.High < truth {
				t.Errorf("%s at %g: the peak is %+v, want %g", name, rate, peak, truth)
			}
		}
	}
}
