package sketch_test

import (
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// identity identifies a key of a second without hashes.
type identity struct {
	sample.Target
	second int64
	key    sample.Key
}

// exactCounts is the oracle: a plain map.
type exactCounts map[identity]sketch.Load

func (e exactCounts) add(r *sample.Record) {
	id := identity{r.Target(), r.Time / 1000, r.PK}
	read, write := r.Load()
	e[id] = e[id].Plus(sketch.Load{Read: read, Write: write})
}

// run spreads a stream at random over collectors. Each collector seals every two seconds at a
// moment of its own, as collectors commit. It returns the merged windows by target and second.
func run(stream iter.Seq[sample.Record], collectors int, exact exactCounts) map[identity]*sketch.Window {
	config := sketch.Config{Seed: seed}
	random := rand.New(rand.NewPCG(seed, uint64(collectors)))
	shards := make([]*sketch.Shard, collectors)
	next := make([]int64, collectors)
	for i := range shards {
		shards[i] = sketch.NewShard(config)
	}
	merged := map[identity]*sketch.Window{}
	commit := func(i int) {
		delta := sketch.NewDelta(config)
		shards[i].Seal(delta)
		fold(merged, overTheWire(delta))
	}
	for r := range stream {
		exact.add(&r)
		i := random.IntN(collectors)
		if r.Time >= next[i] {
			commit(i)
			next[i] = r.Time + 2000 - r.Time%2000 + int64(i*2000/collectors)
		}
		if err := shards[i].Add(&r); err != nil {
			panic(err)
		}
	}
	for i := range shards {
		commit(i)
	}
	return merged
}

func overTheWire(d *sketch.Delta) *sketch.Delta {
	body, err := d.MarshalBinary()
	if err != nil {
		panic(err)
	}
	var read sketch.Delta
	if err := read.UnmarshalBinary(body); err != nil {
		panic(err)
	}
	return &read
}

func fold(merged map[identity]*sketch.Window, d *sketch.Delta) {
	for i := range d.Windows {
		w := &d.Windows[i]
		id := identity{Target: w.Target, second: w.Second}
		if merged[id] == nil {
			merged[id] = &sketch.Window{Target: w.Target, Second: w.Second}
		}
		merged[id].Merge(w)
	}
}

// findings of a comparison.
type findings struct {
	keys, hot, proven, possible int
	unseen                      sample.Milli
}

// compare checks every true value against its bounds, and every total against the exact one,
// and counts the keys over a limit.
func (e exactCounts) compare(t *testing.T, merged map[identity]*sketch.Window) findings {
	t.Helper()
	f := findings{keys: len(e)}
	listed := map[identity]*sketch.KeyLoad{}
	for id, w := range merged {
		f.unseen = max(f.unseen, w.Unseen.Write)
		for i := range w.Keys {
			key := id
			key.key = w.Keys[i].Key
			listed[key] = &w.Keys[i]
		}
	}
	totals := map[identity]sketch.Load{}
	for id, truth := range e {
		window := id
		window.key = sample.Key{}
		totals[window] = totals[window].Plus(truth)
		f.judge(t, id, truth, listed[id], merged[window])
	}
	for id, truth := range totals {
		if merged[id].Total.Load != truth {
			t.Fatalf("second %d: total %v, want %v", id.second, merged[id].Total.Load, truth)
		}
	}
	return f
}

func (f *findings) judge(t *testing.T, id identity, truth sketch.Load, k *sketch.KeyLoad, w *sketch.Window) {
	t.Helper()
	hot := truth.Write > writeOver || truth.Read > readOver
	if hot {
		f.hot++
	}
	if k == nil {
		if truth.Write > w.Unseen.Write || truth.Read > w.Unseen.Read {
			t.Fatalf("%v is not listed and has %v, over the unseen %v", id, truth, w.Unseen)
		}
		return
	}
	high := k.High()
	if k.Low.Write > truth.Write || k.Low.Read > truth.Read || high.Write < truth.Write || high.Read < truth.Read {
		t.Fatalf("%v has %v, outside %v to %v", id, truth, k.Low, high)
	}
	switch proven := k.Low.Write > writeOver || k.Low.Read > readOver; {
	case proven && !hot:
		t.Errorf("%v with %v is reported over a limit", id, truth)
	case proven:
		f.proven++
	case !hot && (high.Write > writeOver || high.Read > readOver):
		f.possible++
	}
}
