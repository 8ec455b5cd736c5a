package sketch_test

import (
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
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
		shards[i].PlaceKeys(everywhere)
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

// everywhere chooses every table for cells.
func everywhere(sample.Target) bool { return true }

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
	unplaced                    sketch.Load // the most of a second
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
	totals, places := map[identity]sketch.Load{}, map[identity]placedLoad{}
	for id, truth := range e {
		window := id
		window.key = sample.Key{}
		totals[window] = totals[window].Plus(truth)
		places[window] = places[window].add(id.key, truth)
		if id.key != (sample.Key{}) {
			f.judge(t, id, truth, listed[id], merged[window])
		}
	}
	for id, truth := range totals {
		if merged[id].Total.Load != truth {
			t.Fatalf("second %d: total %v, want %v", id.second, merged[id].Total.Load, truth)
		}
		f.judgeCells(t, places[id], merged[id])
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

// placedLoad is the load of each cell, nowhere the load of keys without a known position.
type placedLoad struct {
	cells   map[uint16]sketch.Load
	nowhere sketch.Load
}

func (p placedLoad) add(k sample.Key, l sketch.Load) placedLoad {
	if p.cells == nil {
		p.cells = map[uint16]sketch.Load{}
	}
	if at, known := position.Find(k); known {
		cell := uint16(at.Cell(sketch.CellBits))
		p.cells[cell] = p.cells[cell].Plus(l)
	} else {
		p.nowhere = p.nowhere.Plus(l)
	}
	return p
}

// judgeCells checks that listed keys, cells and unplaced load are the total, and that each
// cell's true load lies between its listed load and that plus all unplaced load.
func (f *findings) judgeCells(t *testing.T, truth placedLoad, w *sketch.Window) {
	t.Helper()
	counted := placedLoad{}
	for i := range w.Keys {
		k := &w.Keys[i]
		if key := k.Key; k.Cut {
			counted = counted.add(sample.Key{}, k.Low)
		} else {
			counted = counted.add(key, k.Low)
		}
	}
	if counted.cells == nil {
		counted.cells = map[uint16]sketch.Load{}
	}
	for _, cell := range w.Cells {
		counted.cells[cell.At] = counted.cells[cell.At].Plus(sketch.Load{Read: cell.Read, Write: cell.Write})
	}
	unplaced := w.Remainder()
	sum := counted.nowhere.Plus(unplaced)
	for _, l := range counted.cells {
		sum = sum.Plus(l)
	}
	if sum != w.Total.Load || unplaced.Read < 0 || unplaced.Write < 0 {
		t.Fatalf("second %d: keys, cells and unplaced load are %v, %v of it unplaced; the total is %v", w.Second, sum, unplaced, w.Total.Load)
	}
	f.unplaced.Read, f.unplaced.Write = max(f.unplaced.Read, unplaced.Read), max(f.unplaced.Write, unplaced.Write)
	most := counted.nowhere.Plus(unplaced)
	for at := range uint16(1 << sketch.CellBits) {
		low, had := counted.cells[at], truth.cells[at]
		if high := low.Plus(most); had.Read < low.Read || had.Write < low.Write || had.Read > high.Read || had.Write > high.Write {
			t.Fatalf("second %d: cell %d has %v, outside %v to %v", w.Second, at, had, low, high)
		}
	}
}
