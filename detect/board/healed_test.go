package board_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/progress"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

var (
	evalHealed  = flag.Int("eval.healed", 4, "how many windows each case of the evaluation of healed keys has")
	evalRefused = flag.Int("eval.refused", 20, "how many seeds the evaluation of refused keys has, of five keys each")
)

// healingKey is a key of one caller that marks refusals.
type healingKey struct {
	asked, later float64 // units a second, until splitAt and from then on
	rate         float64
	splits       bool // DynamoDB splits the key at splitAt
}

// splitAt is the second in which the load changes or the split comes, healingSeconds how
// long a key is watched.
const splitAt, healingSeconds = 60, 300

// watch returns the seconds from splitAt until the verdict that the key is healed; 0 for none.
func (h healingKey) watch(r *rand.Rand) (delay int64) {
	b := board.New(board.Options{})
	b.Settle(scenario.Began-1, true)
	for n := range int64(healingSeconds) {
		asked, served := h.asked, 1000+50*r.Float64()
		if n >= splitAt {
			asked = h.later
		}
		asked *= 0.97 + 0.06*r.Float64()
		if served = min(asked, served); n >= splitAt && h.splits {
			served = asked
		}
		w := h.window(r, scenario.Began+n, served, asked-served)
		b.Observe(&w)
		b.Settle(w.Second, true)
		if n > splitAt && n%5 == 0 {
			for _, f := range b.Findings() {
				if f.Subject == detect.KeyWrites && f.Healed != nil {
					return n - splitAt
				}
			}
		}
	}
	return 0
}

// window returns a second of the key as it is sampled.
func (h healingKey) window(r *rand.Rand, second int64, served, refused float64) sketch.Window {
	draw := func(units float64) int64 {
		if h.rate == 1 {
			return int64(units)
		}
		return int64(scenario.Poisson(r, units*h.rate))
	}
	ok, no := draw(served), draw(refused)
	units := func(n int64) sketch.Load { return sketch.Load{Write: sample.Milli(1000 * float64(n) / h.rate)} }
	k := sketch.KeyLoad{
		Hash: 7, Key: sample.KeyString("tenant#big"), Requests: ok + no, Low: units(ok + no), Throttled: units(no),
		Evidence: &sketch.Evidence{Seen: ok + no, Records: ok + no, Load: units(ok + no)},
	}
	caller := func(n int64) sketch.Top {
		return sketch.Top{Entries: []sketch.Entry{{Hash: 3, Text: "order-service", Weight: uint64(detect.Weight(units(n)))}}}
	}
	k.Evidence.Callers = caller(ok + no)
	if no > 0 {
		k.Evidence.Refused[sample.KeyRange], k.Evidence.RefusedCallers = no, caller(no)
	}
	w := sketch.Window{Target: detect.Target{Table: "orders"}, Second: second, Callers: k.Evidence.Callers}
	if h.rate < 1 {
		k.WriteSpread = sketch.Spread{Variance: float64(ok+no) * (1 - h.rate) / h.rate / h.rate, Largest: 1 / h.rate}
		k.Draws = sketch.Draws{RateLow: h.rate, RateHigh: h.rate}
		w.Total.WriteLargest = 1 / h.rate
	}
	w.Total.Requests, w.Total.Load, w.Total.ThrottledRequests, w.Total.Throttled = k.Requests, k.Low, no, k.Throttled
	w.Total.Refused[sample.KeyRange] = no
	if k.Requests > 0 {
		w.Keys = []sketch.KeyLoad{k}
	}
	return w
}

// heals reports whether one partition serves the key after the split, with room to spare.
func (h healingKey) heals() bool { return h.splits && h.later >= 1400 }

// healingKeys are keys that go on being refused, keys that a split heals, and keys whose load
// falls to what one partition serves.
func healingKeys() (all []healingKey) {
	for _, rate := range []float64{1, 0.1, 0.01} {
		for _, asked := range []float64{1100, 1200, 1400, 2000, 5000} {
			all = append(all, healingKey{asked: asked, later: asked, rate: rate})
			if asked >= 1400 { // a partition serves a little beyond its limit, too
				all = append(all, healingKey{asked: asked, later: asked, rate: rate, splits: true})
			}
		}
		for _, later := range []float64{800, 950, 1000, 1020} {
			all = append(all, healingKey{asked: 1400, later: later, rate: rate, splits: true})
		}
	}
	return all
}

// TestEvaluationOfHealing counts false verdicts that a key is healed, and the delay of the
// right ones.
func TestEvaluationOfHealing(t *testing.T) {
	t.Parallel()
	keys := healingKeys()
	delays := make([][]int64, len(keys))
	windows := brief(*evalHealed, 1)
	finish := progress.Count(t, len(keys)*windows)
	t.Run("keys", func(t *testing.T) {
		for i, h := range keys {
			t.Run(fmt.Sprintf("%g to %g at %g, split %t", h.asked, h.later, h.rate, h.splits), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(11, uint64(i)))
				for range windows {
					delays[i] = append(delays[i], h.watch(r))
					finish()
				}
			})
		}
	})
	unhealed, wrong, right := 0, 0, map[float64][]int64{}
	for i, h := range keys {
		if h.heals() {
			right[h.rate] = append(right[h.rate], delays[i]...)
			continue
		}
		unhealed += len(delays[i])
		for _, delay := range delays[i] {
			if delay > 0 {
				wrong++
			}
		}
	}
	for rate, found := range right {
		for i := range found {
			found[i] = cmp.Or(found[i], healingSeconds) // never
		}
		slices.Sort(found)
		median := found[len(found)/2]
		t.Logf("sampled at %g: healed after %d s (median), %d s at most, of %d", rate, median, found[len(found)-1], len(found))
		if median > 180 {
			t.Errorf("sampled at %g the median delay is %d s, want 180 at most", rate, median)
		}
	}
	// Counts are Poisson's: none in 29,958 windows shows, with 95% confidence, that at most
	// one in 10,000 is false.
	most := mathext.GammaIncRegInv(float64(wrong+1), 0.95) / float64(unhealed)
	t.Logf("%d false verdicts in %d windows of %d minutes: with 95%% confidence at most one in %.0f", wrong, unhealed, (healingSeconds-splitAt)/60, 1/most)
	if wrong*10_000 > unhealed || unhealed >= 30_000 && most > 1./10_000 {
		t.Errorf("%d false verdicts in %d windows, want one in 10,000 at most", wrong, unhealed)
	}
}

// TestEvaluationOfRefusedKeys holds the keys that a table refuses most to the truth: exact
// where all requests are seen, and within their bounds where they are sampled.
func TestEvaluationOfRefusedKeys(t *testing.T) {
	t.Parallel()
	const seconds = 30
	planted := []float64{90, 60, 40, 25, 12}
	for _, rate := range []float64{1, 0.1} {
		held, all := 0, 0
		for seed := range uint64(brief(*evalRefused, 5)) {
			r := rand.New(rand.NewPCG(seed, 5))
			shards := []*sketch.Shard{sketch.NewShard(sketch.Config{Seed: scenario.Seed}), sketch.NewShard(sketch.Config{Seed: scenario.Seed})}
			b, truth := board.New(board.Options{}), map[string]float64{}
			b.Settle(scenario.Began-1, true)
			for n := range int64(seconds) {
				send := func(key string, refused bool) {
					if refused {
						truth[key]++
					}
					if r.Float64() >= rate {
						return
					}
					record := sample.Record{
						Time: (scenario.Began+n)*1000 + int64(r.IntN(1000)), Table: "orders", PK: sample.KeyString(key), N: 1, WCU: 1000, Op: sample.PutItem, Rate: rate, Caller: "of " + key,
					}
					if refused {
						record.Throttle = "TableWriteKeyRangeThroughputExceeded"
					}
					if err := shards[r.IntN(2)].Add(&record); err != nil {
						t.Fatal(err)
					}
				}
				for range 1000 {
					send(fmt.Sprintf("o#%d", r.IntN(800)), r.IntN(100) == 0) // one refusal in a hundred everywhere
				}
				for i, mean := range planted {
					for range scenario.Poisson(r, mean) {
						send(fmt.Sprintf("refused#%d", i), true)
					}
				}
				d := sketch.NewDelta(sketch.Config{Seed: scenario.Seed})
				shards[0].Seal(d)
				other := sketch.NewDelta(sketch.Config{Seed: scenario.Seed})
				shards[1].Seal(other)
				d.Windows[0].Merge(&other.Windows[0])
				b.Observe(&d.Windows[0])
				b.Settle(scenario.Began+n, true)
			}
			keys := b.RefusedKeys(detect.Target{Table: "orders"})
			if len(keys) != len(planted) {
				t.Fatalf("%d keys are named: %+v", len(keys), keys)
			}
			for i := range keys {
				k, exact := &keys[i], truth[string(keys[i].Key)]/seconds
				if want := fmt.Sprintf("refused#%d", i); rate == 1 && string(k.Key) != want {
					t.Errorf("seed %d: the key %d is %s", seed, i, k.Key)
				}
				if rate == 1 && (k.WCU.Value != exact || len(k.Callers) != 1 || string(k.Callers[0].Text) != "of "+string(k.Key)) {
					t.Errorf("seed %d: %s is refused %+v, want %g of one caller", seed, k.Key, k, exact)
				}
				if all++; k.WCU.Low <= exact && exact <= k.WCU.High {
					held++
				}
			}
		}
		t.Logf("sampled at %g: %d of %d bounds hold", rate, held, all)
		if float64(held) < 0.95*float64(all) {
			t.Errorf("sampled at %g %d of %d bounds hold, want 95%%", rate, held, all)
		}
	}
}
