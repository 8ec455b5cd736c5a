package board_test

import (
	"fmt"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/casebook"
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
		kind      detect.Subject
		found     bool
	}{
		{"seven samples are some 700 units, perhaps", []workload{{key: "a", units: 7, rate: 0.01}}, facts, detect.SubjectTable, false},
		{"forty samples are more than 600", []workload{{key: "a", units: 40, rate: 0.01}}, facts, detect.SubjectTable, true},
		{"a throttling partition may have a hot key, sampled as 600", []workload{{key: "a", units: 6, rate: 0.01, cause: keyRangeCause, throttled: 1}}, nil, detect.SubjectPartition, false},
		{"no key is near a limit", []workload{{key: "a", units: 30, rate: 0.5, cause: keyRangeCause, throttled: 1}}, nil, detect.SubjectPartition, true},
	} {
		s := story{workloads: c.workloads, facts: c.facts}
		if f := single(t, s.findings(), c.kind); (f != nil) != c.found {
			t.Errorf("%s: found %+v", c.name, f)
		}
	}
}

// TestAMovingKeySaysWhatWasObserved holds that a key of a moving hot spot, whose ground is
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
		if f.Subject != detect.KeyWrites {
			continue
		}
		moving++
		if f.Ground != detect.GroundMoving || f.Evidence.ThrottledRequests() == 0 || f.Quality.Rate == nil || *f.Quality.Rate != 0.5 {
			t.Errorf("%s: %s, %d throttled, sampled as %+v", f.Key, f.Ground, f.Evidence.ThrottledRequests(), f.Quality)
		}
		if f.Shards != 1 || casebook.AdvisesShards(&f) {
			t.Errorf("%s is advised %d shards", f.Key, f.Shards)
		}
	}
	if moving != keys {
		t.Errorf("%d keys of the moving hot spot are found, want %d", moving, keys)
	}
}

// TestAttemptsWithoutUnitsEndTheDoubt samples one request in five, without a word on what was
// drawn together. A key's load is then unproven. Its partition refuses attempts, and they
// carry no units, because a retry is served. Nobody states how often requests were sent.
func TestAttemptsWithoutUnitsEndTheDoubt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		calls    int // sampled, two units each
		refused  int // attempts of each call
		severity detect.Severity
		state    detect.State
	}{
		{"1,200 WCU, eight attempts refused each", 120, 8, detect.Critical, detect.Firing},
		{"1,200 WCU, nothing refused", 120, 0, detect.Info, detect.Pending},
	} {
		b := board.New(board.Options{})
		b.Settle(scenario.Began-1, true)
		shard := sketch.NewShard(sketch.Config{Seed: scenario.Seed})
		for second := range int64(120) {
			for i := range c.calls {
				r := sample.Record{
					Time: (scenario.Began+second)*1000 + int64(i)*7%1000, Table: "orders", PK: sample.KeyString("acme"), SK: sample.KeyString(fmt.Sprint(i, second)),
					Op: sample.UpdateItem, WCU: 2000, Rate: 0.2, N: 1, Caller: "sync",
				}
				attempt := r
				attempt.WCU, attempt.Throttle, attempt.N = 0, keyRangeCause, int64(c.refused)
				for _, each := range []*sample.Record{&r, &attempt} {
					if each.N == 0 {
						continue
					}
					if err := shard.Add(each); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, w := range scenario.SealedWindows(shard) {
				b.Observe(&w)
			}
			b.Settle(scenario.Began+second, true)
		}
		f := single(t, b.Findings(), detect.KeyWrites)
		if f == nil || f.Severity != c.severity || f.State != c.state {
			t.Errorf("%s: found %+v", c.name, f)
			continue
		}
		refused := b.RefusedKeys(f.Target)
		if c.refused == 0 {
			continue
		}
		if len(refused) != 1 || refused[0].Requests != float64(c.calls*c.refused) || refused[0].Share != 1 || len(refused[0].Callers) != 1 || refused[0].Callers[0].Low != 1 {
			t.Errorf("%s: refused %+v", c.name, refused)
		}
	}
}
