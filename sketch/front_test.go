package sketch_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// plainFront is an oracle: the front and its counters as the package comment describes them,
// without any cached values.
type plainFront struct {
	sets     [4]plainSet
	counters map[[2]uint64]uint64 // by line and place
}

type plainSet struct {
	keys   []plainKey
	turned uint64
}

type plainKey struct {
	hash, err, high uint64
	requests        int64
	load            sketch.Load
}

// cells are the counters of a hash, of 4 KiB.
func cells(hash uint64) (all [4][2]uint64) {
	for i := range all {
		all[i] = [2]uint64{hash & 63, uint64(4*i) + hash>>(56+2*i)&3}
	}
	return all
}

func (f *plainFront) estimate(hash uint64) uint64 {
	least := uint64(math.MaxUint64)
	for _, at := range cells(hash) {
		least = min(least, f.counters[at])
	}
	if least == math.MaxUint32 {
		return math.MaxUint64
	}
	return least
}

func (f *plainFront) raise(hash, weight uint64) {
	for _, at := range cells(hash) {
		f.counters[at] = max(f.counters[at], min(weight, math.MaxUint32))
	}
}

func (f *plainFront) add(hash uint64, r *sample.Record) {
	read, write := r.Load()
	if k := f.place(hash, 3*uint64(write)+uint64(read)); k != nil {
		k.requests++
		k.load = k.load.Plus(sketch.Load{Read: read, Write: write})
	}
}

// place returns the place of a key, its weight counted, nil when it has none.
func (f *plainFront) place(hash, weight uint64) *plainKey {
	s := &f.sets[hash>>32%4]
	for i := range s.keys {
		if k := &s.keys[i]; k.hash == hash {
			if k.high != math.MaxUint64 {
				k.high += weight
			}
			return k
		}
	}
	if len(s.keys) < sketch.Ways {
		s.keys = append(s.keys, plainKey{hash: hash, high: weight})
		return &s.keys[len(s.keys)-1]
	}
	out := &s.keys[0]
	for i := range s.keys {
		if s.keys[i].high < out.high {
			out = &s.keys[i]
		}
	}
	err := min(f.estimate(hash), s.turned)
	if high := err + weight; high <= out.high {
		f.raise(hash, high)
		s.turned = max(s.turned, high)
		return nil
	}
	f.raise(out.hash, out.high)
	s.turned = max(s.turned, out.high)
	*out = plainKey{hash: hash, err: err, high: err}
	if err != math.MaxUint64 {
		out.high += weight
	}
	return out
}

// TestFrontDecidesAsDescribed checks that a second lists the oracle's keys, each with its
// counts and its admission error, for streams in which most keys have no place.
func TestFrontDecidesAsDescribed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story string
		keys  int
		units func(*rand.Rand) sample.Milli
	}{
		{"one unit each", 300, func(*rand.Rand) sample.Milli { return 1000 }},
		{"units of all sizes, and none", 300, func(r *rand.Rand) sample.Milli { return sample.Milli(r.IntN(5) * r.IntN(4000)) }},
		{"few keys to turn away", 40, func(r *rand.Rand) sample.Milli { return sample.Milli(r.IntN(3000)) }},
		{"counters that are full", 300, func(r *rand.Rand) sample.Milli { return sample.MaxUnits / sample.Milli(1+r.IntN(1000)) }},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 3))
			zipf := rand.NewZipf(random, 1.1, 3, uint64(c.keys))
			config := sketch.Config{Seed: seed, Sets: 4, CounterBytes: 4096}
			shard, oracle := sketch.NewShard(config), plainFront{counters: map[[2]uint64]uint64{}}
			for range 30_000 {
				r := write(start, fmt.Sprint("key#", zipf.Uint64()), 0)
				if r.WCU = c.units(random); random.IntN(3) == 0 {
					r.Op, r.RCU, r.WCU = sample.GetItem, r.WCU, 0
				}
				oracle.add(sketch.Hash(r.Target(), r.PK, seed), &r)
				must.Succeed(t, shard.Add(&r))
			}
			delta := sketch.NewDelta(config)
			shard.Seal(delta)
			oracle.compare(t, &delta.Windows[0])
		})
	}
}

func (f *plainFront) compare(t *testing.T, w *sketch.Window) {
	t.Helper()
	rest, worst, listed := w.Total.Load, uint64(0), 0
	for _, s := range f.sets {
		worst = max(worst, s.turned)
		for _, k := range s.keys {
			listed++
			rest.Read, rest.Write = rest.Read-k.load.Read, rest.Write-k.load.Write
		}
	}
	most := func(weight uint64) sketch.Load {
		weight = min(weight, math.MaxInt64-2)
		return sketch.Load{Read: min(sample.Milli(weight), rest.Read), Write: min(sample.Milli((weight+2)/3), rest.Write)}
	}
	if len(w.Keys) != listed || worst == 0 || w.Unseen != most(worst) {
		t.Fatalf("%d keys, others up to %v; want %d and %v", len(w.Keys), w.Unseen, listed, most(worst))
	}
	for _, s := range f.sets {
		for _, k := range s.keys {
			got, found := w.Key(k.hash)
			if !found || got.Requests != k.requests || got.Low != k.load || got.Err != most(k.err) {
				t.Errorf("%v: %d requests of %v and up to %v more; want %d, %v, %v", got.Key.Text, got.Requests, got.Low, got.Err, k.requests, k.load, most(k.err))
			}
		}
	}
}
