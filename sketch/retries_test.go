package sketch_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// resent returns a write of the hot key by a caller whose call was sent so often.
func resent(i int, caller string, attempts int64, waited float64, failed bool) sample.Record {
	r := hot(i, sample.KeyString("item"), caller)
	r.WCU, r.Calls, r.Attempts, r.Waited, r.Failed = 10_000, 1, attempts, waited, failed
	return r
}

// retriesOf returns how the hot key's calls were sent, of all deltas, merged in an order.
func retriesOf(t interface{ Fatalf(string, ...any) }, deltas []*sketch.Delta, order []int) *sketch.Retries {
	merged := map[identity]*sketch.Window{}
	for _, i := range order {
		fold(merged, overTheWire(deltas[i]))
	}
	for _, w := range merged {
		for i := range w.Keys {
			if w.Keys[i].Key.Text == "hot" {
				return w.Keys[i].Retries
			}
		}
	}
	t.Fatalf("the key is not listed")
	return nil
}

// TestRetries spreads calls of many callers over shards. Sums are exact, a caller's sums are
// lower bounds, and the order of merging does not matter.
func TestRetries(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		shards := make([]*sketch.Shard, rapid.IntRange(1, 4).Draw(t, "shards"))
		for i := range shards {
			shards[i] = newShard()
		}
		callers := rapid.IntRange(1, 20).Draw(t, "callers")
		var truth sample.Sent
		by := map[string]sample.Sent{}
		untold := int64(0)
		for i := range rapid.IntRange(100, 400).Draw(t, "calls") {
			n := int(math.Abs(random.NormFloat64()) * float64(callers) / 2)
			attempts := int64(1 + random.IntN(5))
			waited := 0.0
			if attempts > 1 {
				waited = float64(random.IntN(2000))
			}
			r := resent(i, fmt.Sprintf("role/%d", n), attempts, waited, random.IntN(9) == 0)
			if random.IntN(20) == 0 {
				r.Attempts, r.Waited, r.Failed = 0, 0, false
				untold++
			} else {
				one := sample.Sent{Calls: 1000, Attempts: 1000 * attempts, Waited: int64(waited)}
				if r.Failed {
					one.Failed = 1000
				}
				truth, by[r.Caller] = truth.Plus(one), by[r.Caller].Plus(one)
			}
			must.Succeed(t, shards[random.IntN(len(shards))].Add(&r))
		}
		deltas := make([]*sketch.Delta, len(shards))
		for i := range shards {
			deltas[i] = sealed(shards[i])
		}
		got := retriesOf(t, deltas, rand.Perm(len(shards)))
		if again := retriesOf(t, deltas, rand.Perm(len(shards))); !reflect.DeepEqual(got, again) {
			t.Fatalf("merged in one order %+v, in another %+v", got, again)
		}
		for _, r := range []*sketch.Retries{got, got.Cut()} {
			// Each shard adds up from a hundredth of a limit on: 10 units, one call.
			missing := truth.Calls - r.Calls
			if missing < 0 || missing > 1000*int64(len(shards)) || truth.Attempts-r.Attempts != missing || r.Failed != truth.Failed || r.Waited != truth.Waited {
				t.Fatalf("%+v, the truth is %+v", r.Sent, truth)
			}
			if r.Untold > untold { // records before the first one with attempts are not counted
				t.Fatalf("%d requests tell nothing, said to be at least %d", untold, r.Untold)
			}
			var listed sample.Sent
			for _, c := range r.Callers {
				of := by[c.Text]
				if c.Calls > of.Calls || c.Attempts > of.Attempts || c.Failed > of.Failed || c.Waited > of.Waited {
					t.Fatalf("%s sent %+v, said to be at least %+v", c.Text, of, c.Sent)
				}
				listed = listed.Plus(c.Sent)
			}
			if listed.Attempts > r.Attempts || listed.Waited > r.Waited || len(by) <= 8 && len(shards) == 1 && listed != r.Sent {
				t.Fatalf("callers sent %+v of %+v", listed, r.Sent)
			}
		}
		if len(got.Cut().Callers) > 8 {
			t.Fatalf("%d callers are kept", len(got.Cut().Callers))
		}
	})
}

// TestRetriesOfCalls counts calls and not items, folded or not. It counts none if records lack
// attempts or the number of calls.
func TestRetriesOfCalls(t *testing.T) {
	t.Parallel()
	batch := func(change func(*sample.Record)) (all []sample.Record) {
		for i := range 25 {
			r := resent(i, "role/a", 3, 400, true)
			r.Op = sample.BatchWriteItem
			change(&r)
			all = append(all, r)
		}
		return all
	}
	folded := resent(0, "role/a", 3, 400, true)
	folded.N, folded.Calls = 50, 2
	without := resent(0, "role/a", 0, 0, false)
	attempt := without // a throttled attempt of a call whose end counts attempts
	attempt.WCU, attempt.Throttle, attempt.N = 0, "TableWriteKeyRangeThroughputExceeded", 2
	one := sample.Sent{Calls: 1000, Attempts: 3000, Failed: 1000, Waited: 400}
	for _, c := range []struct {
		story   string
		records []sample.Record
		want    *sketch.Retries
	}{
		{"a call", []sample.Record{resent(0, "role/a", 3, 400, true)}, &sketch.Retries{Sent: one}},
		{"a call and its throttled attempts", []sample.Record{resent(0, "role/a", 3, 400, true), attempt}, &sketch.Retries{Sent: one}},
		{"a batch whose items know its size", batch(func(r *sample.Record) { r.Calls = 1. / 25 }), &sketch.Retries{Sent: one}},
		{"a batch whose items do not", batch(func(r *sample.Record) { r.Calls = 0 }), nil},
		{"two batches, folded", []sample.Record{folded}, &sketch.Retries{Sent: one.Plus(one)}},
		{"nothing is told", []sample.Record{without, without}, nil},
		{"a producer that tells, and one that does not", []sample.Record{resent(0, "role/a", 3, 400, true), without}, &sketch.Retries{Sent: one, Untold: 1}},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			s := newShard()
			add(t, s, c.records...)
			warm := without // gives the key evidence, without counting attempts itself
			warm.WCU, warm.N = 0, 1
			warm.RCU = 900_000
			add(t, s, warm)
			got := retriesOf(t, []*sketch.Delta{sealed(s)}, []int{0})
			if (got == nil) != (c.want == nil) {
				t.Fatalf("got %+v, want %+v", got, c.want)
			}
			if got == nil {
				return
			}
			if got.Sent != c.want.Sent || got.Untold != c.want.Untold+1 || len(got.Callers) != 1 || got.Callers[0].Sent != c.want.Sent {
				t.Errorf("got %+v, want %+v and one more that tells nothing", got, c.want)
			}
			if got.WaitedVariance != 0 || got.FailedLargest != 0 {
				t.Errorf("all were seen, and yet %+v is open", got)
			}
		})
	}
}

// TestRetriesOfSamples checks the uncertainty of sampled calls: the exact variance for unfolded
// calls, and for folded ones the variance of exponentially distributed times.
func TestRetriesOfSamples(t *testing.T) {
	t.Parallel()
	s := newShard()
	for i := range 20 {
		r := resent(i, "role/a", 2, 100, i%2 == 0)
		r.Rate = 0.1
		add(t, s, r)
	}
	got := retriesOf(t, []*sketch.Delta{sealed(s)}, []int{0})
	if got.Calls != 200_000 || got.Failed != 100_000 || got.Waited != 20_000 ||
		math.Abs(got.WaitedVariance-20*100*100*90) > 1 || math.Abs(got.FailedVariance-10*90) > 1e-6 || got.WaitedLargest != 1000 || got.FailedLargest != 10 {
		t.Errorf("calls by themselves: %+v", got)
	}
	r := resent(0, "role/a", 2, 100, true)
	r.Rate, r.N, r.Calls = 0.1, 20, 20
	add(t, s, r)
	got = retriesOf(t, []*sketch.Delta{sealed(s)}, []int{0})
	if got.Waited != 20_000 || math.Abs(got.WaitedVariance-2*20*100*100*90) > 1 || math.Abs(got.FailedVariance-20*90) > 1e-6 {
		t.Errorf("folded: %+v", got)
	}
}

// TestRetriesHaveRoomForHotKeys retries the calls of many keys before the calls of a hot key.
func TestRetriesHaveRoomForHotKeys(t *testing.T) {
	t.Parallel()
	s := newShard()
	for i := range 3000 {
		r := resent(i, "role/a", 2, 10, false)
		r.PK, r.WCU = sample.KeyString(fmt.Sprint("cool#", i)), 1000
		add(t, s, r)
	}
	for i := range 50 {
		add(t, s, resent(i, "role/b", 2, 10, false))
	}
	if got := retriesOf(t, []*sketch.Delta{sealed(s)}, []int{0}); got != nil {
		t.Errorf("the key had no room while it was cool, and yet %+v is told", got)
	}
	r := resent(0, "role/b", 2, 10, false)
	r.WCU, r.Time = 200_000, r.Time+1000
	for i := range 3000 {
		cool := resent(i, "role/a", 2, 10, false)
		cool.PK, cool.WCU, cool.Time = sample.KeyString(fmt.Sprint("cool#", i)), 1000, r.Time
		add(t, s, cool)
	}
	add(t, s, r)
	if got := retriesOf(t, []*sketch.Delta{sealed(s)}, []int{0}); got == nil || got.Attempts != 2000 {
		t.Errorf("a key that is hot at once has %+v", got)
	}
}
