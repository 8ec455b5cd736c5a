package board_test

import (
	"fmt"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestSampledThrottlingIsProven samples one request in a hundred: the demand on a
// table is then an estimate, and so is that its keys were far from a limit.
func TestSampledThrottlingIsProven(t *testing.T) {
	t.Parallel()
	facts := &detect.TableFacts{Billing: detect.BillingProvisioned, WCU: 600}
	for _, c := range []struct {
		name      string
		workloads []workload
		facts     *detect.TableFacts
		kind      detect.Kind
		found     bool
	}{
		{"seven samples are some 700 units, perhaps", []workload{{key: "a", units: 7, rate: 0.01}}, facts, detect.TableStarvation, false},
		{"forty samples are more than 600", []workload{{key: "a", units: 40, rate: 0.01}}, facts, detect.TableStarvation, true},
		{"a throttling partition may have a hot key, sampled as 600", []workload{{key: "a", units: 6, rate: 0.01, cause: keyRangeCause, throttled: 1}}, nil, detect.HotPartition, false},
		{"no key is near a limit", []workload{{key: "a", units: 30, rate: 0.5, cause: keyRangeCause, throttled: 1}}, nil, detect.HotPartition, true},
	} {
		s := story{workloads: c.workloads, facts: c.facts}
		if f := single(t, s.findings(), c.kind); (f != nil) != c.found {
			t.Errorf("%s: found %+v", c.name, f)
		}
	}
}

// TestAMovingKeySaysWhatWasObserved holds that a key of a moving hot spot, whose diagnosis is
// that of all of them, keeps its own throttled requests and sampling, and gets no shards.
func TestAMovingKeySaysWhatWasObserved(t *testing.T) {
	t.Parallel()
	const keys, each = 5, 5
	shard := sketch.NewShard(sketch.Config{Seed: scenario.Seed})
	judge := board.New(board.Options{})
	judge.Settle(scenario.Began-1, true)
	for second := range int64(keys * each) {
		for i := range 1500 {
			r := sample.Record{
				Time: (scenario.Began+second)*1000 + int64(i)%1000, Table: "orders", PK: sample.KeyString(fmt.Sprintf("customer-%c", 'a'+rune(second/each))),
				Op: sample.PutItem, WCU: 1000, Rate: 0.5, N: 1,
			}
			if i >= 1000 {
				r.Throttle = keyRangeCause
			}
			if err := shard.Add(&r); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range scenario.SealedWindows(shard) {
			judge.Observe(&w)
		}
		judge.Settle(scenario.Began+second, true)
	}
	moving := 0
	for _, f := range judge.Findings() {
		if f.Kind != detect.HotKeyWrite {
			continue
		}
		moving++
		if f.Reason != detect.MovingLoad || f.Ground != detect.GroundMoving || f.Evidence.ThrottledRequests() == 0 || f.Quality.Rate == nil || *f.Quality.Rate != 0.5 {
			t.Errorf("%s: %s by %s, %d throttled, sampled as %+v", f.Key, f.Reason, f.Ground, f.Evidence.ThrottledRequests(), f.Quality)
		}
		if f.Shards != 1 || f.AdvisesShards() {
			t.Errorf("%s is advised %d shards", f.Key, f.Shards)
		}
	}
	if moving != keys {
		t.Errorf("%d keys of the moving hot spot are found, want %d", moving, keys)
	}
}
