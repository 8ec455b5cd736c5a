package sketch_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

// hot returns a write of a key that a fifth of a second's limit is on.
func hot(i int, sk sample.Key, caller string) sample.Record {
	r := write(start, "hot", 1)
	r.Time = start*1000 + int64(i)
	r.SK, r.Caller, r.Op, r.WCU = sk, caller, sample.UpdateItem, 200_000
	return r
}

// evidenceOf returns the hot key's evidence in all deltas, merged in the given order.
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

// TestEvidence spreads requests with many sort keys and callers over shards. Sums are exact,
// Tops are within their bounds, and the order of merging does not matter.
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
			must.Succeed(t, shards[random.IntN(len(shards))].Add(&r))
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
		if e.Seen != gathered || e.Records != gathered || e.Sorted != gathered || e.Load.Write != sample.Milli(200_000*gathered) || e.Ops[0].Requests != gathered {
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

// bounded checks that every text's weight lies within the bounds of a Top.
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

// TestEvidenceIsForWarmKeys: a key below a tenth of a limit gets no evidence, and at most 256
// keys get evidence.
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
			if k.Key.Text == "cold" || len(k.Evidence.Places) > 0 {
				t.Errorf("%s has evidence %+v", k.Key.Text, k.Evidence)
			}
		}
	}
	if with != 256 {
		t.Errorf("%d keys have evidence, want 256", with)
	}
}

// TestDirection distinguishes writes that follow the sort key from other writes.
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
	for i, throttleReason := range []string{"TableWriteKeyRangeThroughputExceeded", "TableWriteKeyRangeThroughputExceeded", "TableWriteProvisionedThroughputExceeded", ""} {
		r := hot(i, sample.Key{}, "")
		r.Throttle, r.N = throttleReason, 3
		add(t, s, r)
	}
	w := sealed(s).Windows[0]
	want := [sample.ThrottleReasons]int64{sample.KeyRange: 6, sample.Provisioned: 3}
	if w.Total.Refused != want || w.Keys[0].Evidence.Refused != want {
		t.Errorf("table %v, key %v, want %v", w.Total.Refused, w.Keys[0].Evidence.Refused, want)
	}
}

// TestEdits sums the changes between images.
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

// TestFoldedGrowth counts the growth by every request that a record stands for.
func TestFoldedGrowth(t *testing.T) {
	t.Parallel()
	s := newShard()
	for i := range 3 {
		r := hot(i, sample.Key{}, "")
		r.Bytes, r.N, r.Rate, r.Edit = 4000, 5, 0.5, &sample.Edit{Changed: 10, Grown: 100}
		add(t, s, r)
	}
	if e := sealed(s).Windows[0].Keys[0].Evidence; e.GrownBytes != 3*100*10 {
		t.Errorf("grown by %d bytes", e.GrownBytes)
	}
}

// TestEvidenceIsOfTheWholeSecond changes the requests in the middle of a second with 8,000 of
// them, and counts 1,300 sort keys. The evidence covers both halves, and all sort keys.
func TestEvidenceIsOfTheWholeSecond(t *testing.T) {
	t.Parallel()
	s := newShard()
	for i := range 8000 {
		r := hot(i/8, sample.KeyString(fmt.Sprintf("item-%d", i%1300)), "role/a")
		r.WCU, r.Bytes = 1000, 1000
		if i >= 4000 {
			r.Caller, r.Op, r.Bytes = "role/b", sample.PutItem, 3000
		}
		add(t, s, r)
	}
	e := sealed(s).Windows[0].Keys[0].Evidence
	if n := e.SortKeys.Estimate(); math.Abs(n-1300) > 250 {
		t.Errorf("1,300 sort keys are %v", n)
	}
	if e.Records < 256 || e.Records > 1024 || e.Seen < 7900 {
		t.Errorf("%d of %d looked at", e.Records, e.Seen)
	}
	within := func(what string, got, want float64) {
		if math.Abs(got-want) > 0.1*want {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	within("the mean size", float64(e.Bytes)/float64(e.Sized), 2000)
	within("PutItem", float64(e.Ops[0].Requests), 4000)
	within("UpdateItem", float64(e.Ops[1].Requests), 4000)
	for _, c := range e.Callers.Entries {
		within(c.Text, float64(c.Weight), 3*4_000_000)
	}
}

// TestPlaces holds the load of ranges of sort keys against the truth: without bias
// over many seconds, within a deviation of 1/(2√k) in one, over one shard or four.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const rounds = 60
	for _, shards := range []int{1, 4} {
		var sum, squares, total float64
		for round := range rounds {
			random := rand.New(rand.NewPCG(uint64(round), uint64(shards)))
			all := make([]*sketch.Shard, shards)
			for i := range all {
				all[i] = newShard()
			}
			truth, whole := 0.0, 0.0
			for i := range 2000 {
				n := random.IntN(1000)
				r := hot(i/2, sample.Key{Type: "N", Text: fmt.Sprint(n)}, "")
				r.WCU = sample.Milli(1000 * (1 + random.IntN(5)))
				if i < 400 {
					r.WCU, r.SK = 100_000, sample.Key{Type: "N", Text: "5000"} // the key is warm at once
				}
				if n < 300 && i >= 400 {
					truth += 3 * float64(r.WCU)
				}
				whole += 3 * float64(r.WCU)
				add(t, all[i%shards], r)
			}
			deltas := make([]*sketch.Delta, shards)
			for i := range all {
				deltas[i] = sealed(all[i])
			}
			e := evidenceOf(t, deltas, rand.Perm(shards))
			seen, below := 0.0, string(sample.Key{Type: "N", Text: "300"}.AppendOrder(nil))
			for _, p := range e.Places {
				if !p.Write {
					t.Fatal("a write is a read")
				}
				if p.Order < below {
					seen += float64(p.Weight)
				}
			}
			if len(e.Places) != min(128, 32*shards) {
				t.Fatalf("%d places of %d shards", len(e.Places), shards)
			}
			off := (seen - truth) / whole
			sum, squares, total = sum+off, squares+off*off, total+truth/whole
		}
		k := 32.0 * float64(shards)
		if mean, deviation := sum/rounds, math.Sqrt(squares/rounds); math.Abs(mean) > 3*deviation/math.Sqrt(rounds) || deviation > 1/(2*math.Sqrt(k)) {
			t.Errorf("over %d shards a range of %.3f of the load is off by %.4f on average, deviation %.4f", shards, total/rounds, mean, deviation)
		}
	}
}

// TestFewPlacesAreExact checks that the places of few requests are exact, and how long sort
// keys are cut.
func TestFewPlacesAreExact(t *testing.T) {
	t.Parallel()
	s := newShard()
	common := strings.Repeat("x", 300)
	for i := range 20 {
		add(t, s, hot(i, sample.KeyString(fmt.Sprintf("%s%02d%s", common, i, strings.Repeat("y", 300))), ""))
	}
	e := sealed(s).Windows[0].Keys[0].Evidence
	if len(e.Places) != 20 {
		t.Fatalf("%d places", len(e.Places))
	}
	seen := map[string]bool{}
	for _, p := range e.Places {
		seen[p.Order] = true
		if p.Weight != 600_000 || len(p.Order) != 300+64 && len(p.Order) != 301+64 {
			t.Errorf("%d bytes of %v", len(p.Order), p.Weight)
		}
	}
	if len(seen) != 20 {
		t.Errorf("%d of 20 sort keys are told apart", len(seen))
	}
}

// TestUnionInAnyOrder unites samples in random orders, with more and fewer places than
// a union keeps.
func TestUnionInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := make([][]sketch.Place, rapid.IntRange(1, 5).Draw(t, "parts"))
		for i := range parts {
			for _, w := range rapid.SliceOfN(rapid.Uint64Range(1, 1000), 0, 20).Draw(t, "weights") {
				of := []sketch.Place{{Priority: float32(w) * rapid.Float32Range(1, 50).Draw(t, "priority"), Weight: w, Order: fmt.Sprint(w % 7)}}
				parts[i] = gather.UnionPlaces(parts[i], of, 16)
			}
		}
		unite := func(order []int) (all []sketch.Place) {
			for _, i := range order {
				all = gather.UnionPlaces(all, parts[i], 16)
			}
			return all
		}
		if a, b := unite(rand.Perm(len(parts))), unite(rand.Perm(len(parts))); !reflect.DeepEqual(a, b) && len(a)+len(b) > 0 {
			t.Fatalf("%v and %v", a, b)
		}
	})
}

// BenchmarkHot measures a record of a hot key: all records are of one key.
func BenchmarkHot(b *testing.B) {
	records := make([]sample.Record, 4096)
	for i := range records {
		records[i] = hot(0, sample.KeyString(fmt.Sprintf("2025-11-21T10:00:%08d", i*2654435761%(1<<31))), fmt.Sprintf("role/%d", i%3))
		records[i].WCU = 1000
	}
	s := newShard()
	b.ReportAllocs()
	for i := range b.N {
		r := &records[i%len(records)]
		r.Time = (start + int64(i/2000)) * 1000
		if err := s.Add(r); err != nil {
			b.Fatal(err)
		}
		if i%400_000 == 399_999 {
			sealed(s)
		}
	}
}

// TestBytesOfAHotKey bounds the bytes of a hot key in a delta, per second.
func TestBytesOfAHotKey(t *testing.T) {
	t.Parallel()
	s := newShard()
	const seconds = 4
	for i := range seconds * 1500 {
		r := hot(0, sample.KeyString(fmt.Sprintf("2025-11-21T10:00:%08x", uint32(i*2654435761))), fmt.Sprintf("role/%d", i%3))
		r.Time, r.WCU = start*1000+int64(i*1000/1500), 1000
		add(t, s, r)
	}
	body, err := sealed(s).MarshalBinary()
	must.Succeed(t, err)
	t.Logf("%d bytes a second", len(body)/seconds)
	if len(body) > 2000*seconds {
		t.Errorf("%d bytes for %d seconds", len(body), seconds)
	}
}
