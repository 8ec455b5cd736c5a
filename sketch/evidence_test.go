package sketch_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// hot returns a write of a key that a fifth of a second's limit is on.
func hot(i int, sk sample.Key, caller string) sample.Record {
	r := write(start, "hot", 1)
	r.Time = start*1000 + int64(i)
	r.SK, r.Caller, r.Op, r.WCU = sk, caller, sample.UpdateItem, 200_000
	return r
}

// evidenceOf returns what is known of the hot key in all deltas, merged in a random
// order.
func evidenceOf(t interface{ Fatalf(string, ...any) }, deltas []*sketch.Delta, order []int) *sketch.Evidence {
	merged := map[identity]*sketch.Window{}
	for _, i := range order {
		fold(merged, overTheWire(deltas[i]))
	}
	for _, w := range merged {
		for i := range w.Keys {
			if w.Keys[i].Key.Text == "hot" {
				return w.Keys[i].Evidence
			}
		}
	}
	t.Fatalf("the key is not listed")
	return nil
}

// TestEvidence spreads requests with many sort keys and callers over shards: what
// adds exactly is exact, what does not is bounded, and the order of merging is of
// no account.
func TestEvidence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seeds := rapid.Uint64().Draw(t, "seed")
		random := rand.New(rand.NewPCG(seeds, 1))
		shards := make([]*sketch.Shard, rapid.IntRange(1, 4).Draw(t, "shards"))
		for i := range shards {
			shards[i] = newShard()
		}
		items, callers := map[string]uint64{}, map[string]uint64{}
		n, gathered := rapid.IntRange(20, 200).Draw(t, "requests"), int64(0)
		kinds := rapid.IntRange(1, 60).Draw(t, "sort keys")
		for i := range n {
			sk := fmt.Sprintf("item-%d", int(math.Abs(random.NormFloat64())*float64(kinds)/3))
			r := hot(i, sample.KeyString(sk), fmt.Sprintf("role/%d", random.IntN(9)))
			if err := shards[random.IntN(len(shards))].Add(&r); err != nil {
				t.Fatal(err)
			}
			gathered++
			items[sk] += 600_000
			callers[r.Caller] += 600_000
		}
		deltas := make([]*sketch.Delta, len(shards))
		for i := range shards {
			deltas[i] = sealed(shards[i])
		}
		e := evidenceOf(t, deltas, rand.Perm(len(shards)))
		if again := evidenceOf(t, deltas, rand.Perm(len(shards))); !reflect.DeepEqual(e, again) {
			t.Fatalf("merged in one order %+v, in another %+v", e, again)
		}
		if e.Records != gathered || e.Sorted != gathered || e.Load.Write != sample.Milli(200_000*gathered) || e.Ops[0].Requests != gathered {
			t.Fatalf("%d requests are %+v", gathered, e)
		}
		bounded(t, e.Items, items)
		bounded(t, e.Callers, callers)
		bounded(t, e.Cut().Items, items)
		if distinct, got := float64(len(items)), e.SortKeys.Estimate(); math.Abs(got-distinct) > 3+0.5*distinct {
			t.Fatalf("%v sort keys estimated as %v", distinct, got)
		}
	})
}

// bounded reports whether every text's weight lies within what a Top says of it.
func bounded(t *rapid.T, top sketch.Top, exact map[string]uint64) {
	listed := map[string]uint64{}
	for _, e := range top.Entries {
		listed[e.Text] = e.Weight
	}
	for text, weight := range exact {
		if low := listed[text]; low > weight || low+top.Missing < weight {
			t.Fatalf("%s is %d, said to be %d to %d", text, weight, low, low+top.Missing)
		}
	}
}

// TestEvidenceIsForWarmKeys says that a key below a tenth of a limit has none,
// and that of no more than 256 keys, and 256 requests, any is gathered.
func TestEvidenceIsForWarmKeys(t *testing.T) {
	t.Parallel()
	s := newShard()
	cold := write(start, "cold", 99)
	add(t, s, cold)
	for k := range 400 {
		r := write(start, fmt.Sprintf("k%d", k), 150)
		add(t, s, r)
	}
	many := write(start, "k0", 1)
	for range 1000 {
		add(t, s, many)
	}
	with := 0
	for _, w := range sealed(s).Windows {
		for i := range w.Keys {
			k := &w.Keys[i]
			if k.Evidence == nil {
				continue
			}
			with++
			if k.Key.Text == "cold" || k.Evidence.Records > 256 {
				t.Errorf("%s has evidence %+v", k.Key.Text, k.Evidence)
			}
		}
	}
	if with != 256 {
		t.Errorf("%d keys have evidence, want 256", with)
	}
}

// TestDirection tells writes that follow the sort key from those that do not.
func TestDirection(t *testing.T) {
	t.Parallel()
	number := func(text string) sample.Key { return sample.Key{Type: "N", Text: text} }
	for name, c := range map[string]struct {
		sk           func(i int) sample.Key
		rises, falls int64
	}{
		"strings that rise":          {func(i int) sample.Key { return sample.KeyString(fmt.Sprintf("2025-11-21T%04d", i)) }, 49, 0},
		"numbers of growing length":  {func(i int) sample.Key { return number(fmt.Sprint(99999999999999990 + i)) }, 49, 0},
		"negative numbers that fall": {func(i int) sample.Key { return number(fmt.Sprint(-i - 1)) }, 0, 49},
		"the same":                   {func(int) sample.Key { return number("7") }, 0, 0},
		"back and forth":             {func(i int) sample.Key { return number(fmt.Sprint(i % 2)) }, 25, 24},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShard()
			for i := range 50 {
				add(t, s, hot(i, c.sk(i), ""))
			}
			e := sealed(s).Windows[0].Keys[0].Evidence
			if e.Rises != c.rises || e.Falls != c.falls {
				t.Errorf("%d rises and %d falls, want %d and %d", e.Rises, e.Falls, c.rises, c.falls)
			}
		})
	}
}

// TestRefusedByCause counts refused requests of the table and of the key.
func TestRefusedByCause(t *testing.T) {
	t.Parallel()
	s := newShard()
	for i, cause := range []string{"TableWriteKeyRangeThroughputExceeded", "TableWriteKeyRangeThroughputExceeded", "TableWriteProvisionedThroughputExceeded", ""} {
		r := hot(i, sample.Key{}, "")
		r.Throttle, r.N = cause, 3
		add(t, s, r)
	}
	w := sealed(s).Windows[0]
	want := [sample.Causes]int64{sample.KeyRange: 6, sample.Provisioned: 3}
	if w.Total.Refused != want || w.Keys[0].Evidence.Refused != want {
		t.Errorf("table %v, key %v, want %v", w.Total.Refused, w.Keys[0].Evidence.Refused, want)
	}
}

// TestEdits sums what images tell.
func TestEdits(t *testing.T) {
	t.Parallel()
	s := newShard()
	for i := range 3 {
		r := hot(i, sample.Key{}, "")
		r.Bytes, r.Edit = 4000, &sample.Edit{Changed: 10, Grown: -1, Attributes: []string{"counter"}}
		add(t, s, r)
	}
	e := sealed(s).Windows[0].Keys[0].Evidence
	if most, _ := e.Attributes.Largest(); most.Text != "counter" || e.Edited != 3 || e.ItemBytes != 12000 || e.ChangedBytes != 30 || e.GrownBytes != -3 {
		t.Errorf("evidence %+v", e)
	}
}

// TestVersion2 reads what collectors wrote before there were callers of tables.
func TestVersion2(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("testdata/version2.delta")
	if err != nil {
		t.Fatal(err)
	}
	var d sketch.Delta
	if err := d.UnmarshalBinary(body); err != nil {
		t.Fatal(err)
	}
	w := d.Windows[0]
	if w.Total.Requests != 400 || len(w.Keys) != 1 || w.Total.Refused[sample.KeyRange] != 100 || w.Total.Refused[sample.OfIndex] != 0 || w.Callers.Entries != nil {
		t.Fatalf("window %+v", w)
	}
	if k := w.Keys[0]; k.Low.Write != 400_000 || k.Evidence == nil || len(k.Evidence.Callers.Entries) != 1 {
		t.Errorf("key %+v", k)
	}
}
