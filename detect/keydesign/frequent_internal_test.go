package keydesign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestFrequentKeysHoldTheTruth compares every key that is counted, and every one that is
// not, with an exact count: of seconds that list few keys or many, some of them in part and
// others not at all, while there is room for fewer and fewer keys.
func TestFrequentKeysHoldTheTruth(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		keys, listed := 1+random.IntN(1+int(seed)*40), 1+random.IntN(300)
		part := func(of sample.Milli) sample.Milli { return sample.Milli(random.Int64N(int64(of) + 1)) }
		var f frequentKeys
		var types keyTypes
		truth, ever := map[uint64]sketch.Load{}, map[uint64]bool{}
		for second := range int64(60) {
			w := &sketch.Window{Second: second, Unseen: sketch.Load{Read: part(300), Write: part(300)}}
			seen := map[uint64]bool{}
			for range random.IntN(listed + 1) {
				hash := 1 + min(random.Uint64N(uint64(keys)), random.Uint64N(uint64(keys)))
				if seen[hash] {
					continue
				}
				seen[hash] = true
				k := sketch.KeyLoad{
					Hash: hash, Key: sample.KeyString(fmt.Sprint(hash)), Requests: 1,
					Low: sketch.Load{Read: part(3000), Write: part(3000)}, Err: sketch.Load{Read: part(50), Write: part(50)},
				}
				l := k.Low.Plus(sketch.Load{Read: part(k.Err.Read), Write: part(k.Err.Write)})
				if random.IntN(4) == 0 {
					l = sketch.Load{Read: part(w.Unseen.Read), Write: part(w.Unseen.Write)}
				} else {
					w.Keys, ever[hash] = append(w.Keys, k), true
				}
				truth[hash] = truth[hash].Plus(l)
				w.Total.Load = w.Total.Plus(l)
			}
			slices.SortFunc(w.Keys, func(a, b sketch.KeyLoad) int { return int(a.Hash) - int(b.Hash) })
			room := max(minKeysPerTable, maxKeysPerTable-20*int(second))
			f.add(w, room, &types)
			holdsTruth(t, &f, truth)
			if len(f.keys) < min(room, len(ever)) || len(f.keys) > 2*room {
				t.Fatalf("%d keys with room for %d", len(f.keys), room)
			}
		}
	}
}

// holdsTruth fails unless each key that is counted has between its
// low and its high, and none that is not counted more than most.
func holdsTruth(t *testing.T, f *frequentKeys, truth map[uint64]sketch.Load) {
	t.Helper()
	counted := map[uint64]bool{}
	within := func(low, l, high sketch.Load) bool {
		return low.Read <= l.Read && l.Read <= high.Read && low.Write <= l.Write && l.Write <= high.Write
	}
	for hash, c := range f.keys {
		counted[hash] = true
		if l := truth[c.hash]; !within(c.low, l, f.high(c)) || c.text != fmt.Sprint(hash) {
			t.Fatalf("key %s of hash %d has %+v, counted from %+v to %+v", c.text, hash, l, c.low, f.high(c))
		}
	}
	for hash, l := range truth {
		if !counted[hash] && !within(sketch.Load{}, l, f.most) {
			t.Fatalf("key %d that is not counted has %+v, more than %+v", hash, l, f.most)
		}
	}
}
