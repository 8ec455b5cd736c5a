package board_test

import (
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/internal/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestNoFalsePages watches a key at 79% of the limit for 24 hours at 1%
// sampling.
func TestNoFalsePages(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	judge := board.New(board.Options{})
	shard := sketch.NewShard(sketch.Config{CounterBytes: 4096, Sets: 1})
	judge.Settle(scenario.Began-1, true)
	key := scenario.Traffic{Requests: 790 * 0.01, Units: scenario.Fixed(1), Rate: scenario.Fixed(0.01)}
	for second := range int64(24 * 3600) {
		at := scenario.Began + second
		for range scenario.Poisson(random, key.Requests) { // the sampled ones alone
			record := sample.Record{
				Time: at * 1000, Table: "orders", PK: sample.KeyString("user#42"), Op: sample.UpdateItem,
				WCU: 1000, Rate: 0.01, N: 1,
			}
			if err := shard.Add(&record); err != nil {
				t.Fatal(err)
			}
		}
		if second%4 == 3 {
			for _, w := range scenario.Sealed(shard) {
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
}

// TestSampledHeatIsFound watches a key at 1,500 writes a second at 1% sampling:
// single seconds prove nothing, the mean of a minute does.
func TestSampledHeatIsFound(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	judge := board.New(board.Options{})
	shard := sketch.NewShard(sketch.Config{})
	key := scenario.Traffic{Requests: 1500, Units: scenario.Fixed(1), Rate: scenario.Fixed(0.01)}
	judge.Settle(scenario.Began-1, true)
	for second := range int64(60) {
		key.Second(random, shard, scenario.Began+second)
		for _, w := range scenario.Sealed(shard) {
			judge.Observe(&w)
		}
		judge.Settle(scenario.Began+second, true)
	}
	found := judge.Findings()
	if len(found) != 1 || found[0].Severity != detect.Critical || found[0].State != detect.Firing {
		t.Fatalf("found %+v", found)
	}
	f := found[0]
	if f.OverSeconds != 0 || f.PossibleSeconds < 50 || f.Mean.WCU.Low > 1500 || f.Mean.WCU.High < 1500 {
		t.Errorf("over %d, possible %d, mean %+v", f.OverSeconds, f.PossibleSeconds, f.Mean.WCU)
	}
}
