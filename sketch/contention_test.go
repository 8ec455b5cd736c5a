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

// attempted is the truth about one item in a second, in attempts and calls.
type attempted struct {
	attempts, calls, conflicts, conditions, retried, failed, writes int64
	losers, writers                                                 map[string]int64
}

// call makes the record of one call on an item, and adds it to the truth. An attempt is lost with
// a chance, and after four the program gives up.
func (a *attempted) call(random *rand.Rand, item, caller string, chance float64, at int64) sample.Record {
	r := sample.Record{Time: at, Table: "orders", PK: sample.KeyString("tenant"), SK: sample.KeyString(item), Op: sample.UpdateItem, WCU: 1000, Rate: 1, N: 1, Calls: 1, Caller: caller}
	for r.Attempts = 1; random.Float64() < chance; r.Attempts++ {
		if random.IntN(3) == 0 {
			r.ConditionsFailed++
		} else {
			r.Conflicts++
		}
		if r.Attempts == 4 {
			r.Failed, r.WCU = true, 0
			break
		}
	}
	a.attempts, a.calls = a.attempts+r.Attempts, a.calls+1
	a.conflicts, a.conditions = a.conflicts+r.Conflicts, a.conditions+r.ConditionsFailed
	switch {
	case r.Failed:
		a.failed++
	case r.Lost() > 0:
		a.retried++
	}
	a.writes += r.ConditionsFailed * int64(r.WCU)
	a.losers[caller] += r.Lost()
	a.writers[caller] += r.Attempts
	return r
}

// contendedSeconds drives shards through some seconds of calls to a key that nobody calls hot,
// sampled at a rate, and returns the truth and the merged contention of each second.
func contendedSeconds(t rapid.TB, random *rand.Rand, shards, items int, rate float64) (truth []map[string]*attempted, got []*sketch.KeyLoad) {
	t.Helper()
	all := make([]*sketch.Shard, shards)
	for i := range all {
		all[i] = newShard()
	}
	const start = 1_800_000_000
	for second := range int64(4) {
		of := map[string]*attempted{}
		for i := range items {
			of[fmt.Sprint("item#", i)] = &attempted{losers: map[string]int64{}, writers: map[string]int64{}}
		}
		for range random.IntN(60*items) + int(20/rate) {
			i := random.IntN(items)
			item := fmt.Sprint("item#", i)
			r := of[item].call(random, item, fmt.Sprint("role/", random.IntN(3)), float64(i+1)/float64(items+2), 1000*(start+second)+random.Int64N(1000))
			if r.Rate = rate; random.Float64() >= rate {
				continue
			}
			must.Succeed(t, all[random.IntN(shards)].Add(&r))
		}
		truth = append(truth, of)
		var windows []*sketch.Window
		for _, s := range all {
			d := sealed(s)
			if n := len(d.Windows); n > 1 {
				t.Fatalf("%d windows", n)
			}
			for i := range d.Windows {
				windows = append(windows, &d.Windows[i])
			}
		}
		got = append(got, mergedKey(t, windows))
	}
	return truth, got
}

// mergedKey merges windows in two orders, each through its binary form, and returns their one key.
func mergedKey(t rapid.TB, windows []*sketch.Window) *sketch.KeyLoad {
	t.Helper()
	merge := func(order []int) *sketch.Window {
		var all sketch.Window
		for _, i := range order {
			body, err := windows[i].MarshalBinary()
			must.Succeed(t, err)
			var read sketch.Window
			must.Succeed(t, read.UnmarshalBinary(body))
			all.Merge(&read)
		}
		return &all
	}
	order := rand.Perm(len(windows))
	one, other := merge(order), merge(rand.Perm(len(windows)))
	if len(one.Keys) == 0 {
		return &sketch.KeyLoad{}
	}
	c, d := one.Keys[0].Evidence.Cut(), other.Keys[0].Evidence.Cut()
	if c != nil && !sameContention(c.Contention, d.Contention) {
		t.Fatalf("merged in one order %+v, in another %+v", c.Contention, d.Contention)
	}
	return &one.Keys[0]
}

// sameContention compares all but the last digits of sums of floats.
func sameContention(a, b *sketch.Contention) bool {
	if a == nil || b == nil {
		return a == b
	}
	c, d := *a, *b
	round := func(items []sketch.Contended) (all []sketch.Contended) {
		for _, i := range items {
			i.LostSpread.Variance, i.TriedSpread.Variance = math.Round(i.LostSpread.Variance), math.Round(i.TriedSpread.Variance)
			all = append(all, i)
		}
		return all
	}
	c.Items, d.Items = round(c.Items), round(d.Items)
	return reflect.DeepEqual(c, d)
}

// TestContention compares the contention of up to four items with the truth. The second in which a
// shard first sees a lost attempt may lack attempts before it, and says how many; the later ones
// are exact.
func TestContention(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		shards, items := rapid.IntRange(1, 3).Draw(t, "shards"), rapid.IntRange(1, 4).Draw(t, "items")
		truth, got := contendedSeconds(t, random, shards, items, 1)
		for second, k := range got {
			if !k.IsContended() {
				t.Fatal("no contention")
			}
			c := k.Evidence.Contention
			for _, item := range c.Items {
				of := truth[second][item.Text]
				if item.Conflicts != 1000*of.conflicts || item.Conditions != 1000*of.conditions || item.Retried != 1000*of.retried || item.Failed != 1000*of.failed {
					t.Fatalf("second %d: %+v, the truth is %+v", second, item, of)
				}
				missing := 1000*of.attempts - item.Attempts
				if missing < 0 || missing > 4000*item.Before || second == 3 && missing > 0 && shards == 1 {
					t.Fatalf("second %d: %+v lacks %d attempts of %d, and %d requests are open", second, item, missing, of.attempts, item.Before)
				}
				for _, list := range []struct {
					top  sketch.Top
					lost map[string]int64
				}{{item.Losers, of.losers}, {item.Writers, of.writers}} {
					for _, caller := range list.top.Entries {
						if n := uint64(1000 * list.lost[caller.Text]); caller.Weight > n || n > caller.Weight+list.top.Missing+uint64(4000*item.Before) {
							t.Fatalf("%s has %d, said to be %d and %d more", caller.Text, n, caller.Weight, list.top.Missing)
						}
					}
				}
				delete(truth[second], item.Text)
			}
			for item, of := range truth[second] {
				if of.conflicts+of.conditions > 0 {
					t.Fatalf("%s lost %+v and is not listed", item, of)
				}
			}
		}
	})
}

// TestContentionOfSamples compares sampled contention with the truth: estimates are within five
// standard deviations, and right on average.
func TestContentionOfSamples(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0.1, 0.01} {
		random := rand.New(rand.NewPCG(7, uint64(1/rate)))
		errors, squares, n := 0.0, 0.0, 0.0
		for range 60 {
			truth, got := contendedSeconds(t, random, 2, 2, rate)
			for second, k := range got[1:] {
				if !k.IsContended() {
					continue
				}
				for _, item := range k.Evidence.Contention.Items {
					of := truth[second+1][item.Text]
					off := float64(item.Lost())/1000 - float64(of.conflicts+of.conditions)
					spread := max(item.LostSpread.Variance, 3*float64(of.conflicts+of.conditions)/rate) // if few were drawn, it is too small
					if most := 5*math.Sqrt(spread) + item.LostSpread.Largest; math.Abs(off) > most {
						t.Errorf("at %g: %s is off by %g of %d, the most is %g", rate, item.Text, off, of.conflicts+of.conditions, most)
					}
					if off := float64(item.Attempts)/1000 - float64(of.attempts); off > 5*math.Sqrt(item.TriedSpread.Variance)+item.TriedSpread.Largest {
						t.Errorf("at %g: the attempts of %s are off by %g of %d", rate, item.Text, off, of.attempts)
					}
					errors, squares, n = errors+off, squares+spread, n+1
				}
			}
		}
		if n < 100 || math.Abs(errors) > 4*math.Sqrt(squares) {
			t.Errorf("at %g: %g items are off by %g together, of a standard deviation of %g", rate, n, errors, math.Sqrt(squares))
		}
	}
}

// TestContentionIsKept: a cool key that lost attempts stays when a second is trimmed, and among many
// contended items the ones with the most lost attempts are listed, within the bound.
func TestContentionIsKept(t *testing.T) {
	t.Parallel()
	s := newShard()
	truth := map[string]int64{}
	for i := range 600 {
		item := fmt.Sprint("item#", i%40*(i%3))
		r := sample.Record{Time: 1_800_000_000_000, Table: "orders", PK: sample.KeyString("tenant"), SK: sample.KeyString(item), Op: sample.TransactWriteItems, Conflicts: 1, Rate: 1, N: 1}
		truth[item]++
		add(t, s, r)
	}
	w := sealed(s).Windows[0]
	w.Trim(sketch.Load{Read: 60_000, Write: 20_000}, 0, false)
	if len(w.Keys) != 1 || !w.Keys[0].IsContended() {
		t.Fatalf("%d keys are left", len(w.Keys))
	}
	c := w.Keys[0].Evidence.Contention
	if len(c.Items) > 8 {
		t.Fatalf("%d items", len(c.Items))
	}
	for item, lost := range truth {
		listed := int64(0)
		for _, i := range c.Items {
			if i.Text == item {
				listed = i.Lost()
			}
		}
		if listed > 1000*lost || 1000*lost > listed+int64(c.Missing) {
			t.Errorf("%s lost %d, said to be %d and at most %d more", item, lost, listed, c.Missing)
		}
	}
}

// TestWhatIsNoContention: reads lose nothing and are no attempts, and items of a cancelled
// transaction that were not contended earn their key no evidence.
func TestWhatIsNoContention(t *testing.T) {
	t.Parallel()
	s := newShard()
	r := sample.Record{Time: 1_800_000_000_000, Table: "orders", PK: sample.KeyString("counter"), Op: sample.TransactWriteItems, Conflicts: 1, Rate: 1, N: 1}
	beside := r
	beside.PK, beside.Conflicts, beside.WCU = sample.KeyString("order#1"), 0, 1000
	read := r
	read.Op, read.Conflicts, read.RCU = sample.GetItem, 0, 500
	throttled := r // its call counts the attempt at its end
	throttled.Conflicts, throttled.Throttle = 0, "TableWriteKeyRangeThroughputExceeded"
	add(t, s, r, beside, read, throttled)
	for _, k := range sealed(s).Windows[0].Keys {
		if k.Key.Text == "order#1" && k.Evidence != nil {
			t.Error("the item beside the contended one has evidence")
		}
		if k.Key.Text == "counter" && (!k.IsContended() || k.Evidence.Contention.Items[0].Attempts != 1000 || k.Evidence.Contention.Items[0].Hash != 0) {
			t.Errorf("%+v", k.Evidence.Contention)
		}
	}
}
