package main

import (
	"container/heap"
	"errors"
	"os"
	"strings"
	"time"

	boom "github.com/tylertreat/BoomFilters"
	"tailscale.com/util/topk"

	"github.com/keyheat/keyheat/internal/testsupport/keytrace"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// The stream of the sketches is the real key trace at 200,000 requests a second, fifty
// times over with later times, sealed every two seconds as a collector does: of five times
// a tenth was the kernel's first pages, which a process that runs on does not ask for.
const (
	traceFile    = "../internal/testsupport/keytrace/testdata/orm-busy.trace.zst"
	tracePer     = 200_000
	traceRecords = 400_000
	traceTimes   = 50
	commitEvery  = 2
	seed         = 1
)

// kept is how many keys the libraries' heaps hold: as many as a front of ours.
const kept = sketch.DefaultSets * sketch.Ways

func sketches() group {
	return group{
		name: "sketch", unit: "add",
		contenders: []contender{
			{name: "keyheat", run: func(m *meter) error { return addToShard(m, 1) }},
			{name: "keyheat, weights × 100", run: func(m *meter) error { return addToShard(m, 100) }},
			{name: "exact map", run: addToMap},
			{name: "BoomFilters + heap", run: addToBoom},
			{name: "tailscale topk", run: addToTopK},
		},
		figures: []figure{
			{name: "sketch add, with seal, vs exact map", ours: "keyheat", theirs: "exact map", goal: 4},
			{name: "… vs BoomFilters' count-min + heap", ours: "keyheat", theirs: "BoomFilters + heap", goal: 6},
			{name: "… vs tailscale's count-min and top k", ours: "keyheat", theirs: "tailscale topk", goal: 6},
			{name: "the time of weights × 100 vs its own", ours: "keyheat", theirs: "keyheat, weights × 100", goal: 1.1, most: true},
		},
	}
}

// access is what the records of the trace differ in.
type access struct {
	second int64
	wcu    sample.Milli
	end    int // of its key, behind that of the access before
}

// accesses reads the trace: its accesses, the text of all their keys, and one of its
// records. There is no pointer among them, so that no contender's garbage collector has
// to look at what a collector would not have either.
func accesses(times sample.Milli) (all []access, keys string, one sample.Record, err error) {
	file, err := os.Open(traceFile)
	if err != nil {
		return nil, "", one, err
	}
	defer file.Close()
	stream, err := keytrace.Read(file, keytrace.Config{Start: time.Unix(1_763_692_000, 0), PerSecond: tracePer, Seed: seed, Limit: traceRecords})
	if err != nil {
		return nil, "", one, err
	}
	var text strings.Builder
	for r, err := range stream {
		if err != nil {
			return nil, "", one, err
		}
		one = r
		text.WriteString(r.PK.Text)
		all = append(all, access{r.Time / 1000, r.WCU * times, text.Len()})
	}
	return all, text.String(), one, nil
}

// passes gives each record of the trace so many times, each time later, and calls commit
// as often as a collector commits. As a decoder does it hands out one record that it
// uses again: an array of records would measure how fast memory is read.
func passes(m *meter, times sample.Milli, add func(r *sample.Record) error, commit func()) error {
	all, keys, r, err := accesses(times)
	if err != nil {
		return err
	}
	span := all[len(all)-1].second - all[0].second + 1
	m.start()
	next := all[0].second + commitEvery
	for pass := range int64(traceTimes) {
		from := 0
		for i := range all {
			second := all[i].second + pass*span
			if second >= next {
				commit()
				next = second + commitEvery
			}
			r.Time, r.PK.Text, r.WCU = second*1000, keys[from:all[i].end], all[i].wcu
			from = all[i].end
			if err := add(&r); err != nil {
				return err
			}
		}
	}
	commit()
	m.stop(len(all) * traceTimes)
	return nil
}

func addToShard(m *meter, times sample.Milli) error {
	config := sketch.Config{Seed: seed}
	shard := sketch.NewShard(config)
	windows := 0
	err := passes(m, times, shard.Add, func() {
		delta := sketch.NewDelta(config)
		shard.Seal(delta)
		windows += len(delta.Windows)
	})
	if err == nil && windows == 0 {
		err = errors.New("nothing was sealed")
	}
	return err
}

// identity is a key in a second.
type identity struct {
	of     sample.Target
	second int64
	key    sample.Key
}

func addToMap(m *meter) error {
	counts := make(map[identity]sketch.Load)
	return passes(m, 1, func(r *sample.Record) error {
		id := identity{r.Target(), r.Time / 1000, r.PK}
		read, write := r.Load()
		counts[id] = counts[id].Plus(sketch.Load{Read: read, Write: write})
		return nil
	}, func() { counts = make(map[identity]sketch.Load) })
}

// weight is what a request counts: whole write units, of which the trace's are.
func weight(r *sample.Record) uint64 {
	_, w := r.Load()
	return uint64(w / 1000)
}

// largest is the keys with the largest counts, the smallest first.
type largest struct {
	keys   []string
	counts []uint64
	at     map[string]int
}

func (l *largest) Len() int           { return len(l.keys) }
func (l *largest) Less(i, j int) bool { return l.counts[i] < l.counts[j] }
func (l *largest) Swap(i, j int) {
	l.keys[i], l.keys[j] = l.keys[j], l.keys[i]
	l.counts[i], l.counts[j] = l.counts[j], l.counts[i]
	l.at[l.keys[i]], l.at[l.keys[j]] = i, j
}
func (l *largest) Push(any) {}
func (l *largest) Pop() any { return nil }

// set gives a key its count, in the place of the smallest where there is no other.
func (l *largest) set(key string, count uint64) {
	i, known := l.at[key]
	switch {
	case known:
	case len(l.keys) < kept:
		i = len(l.keys)
		l.keys, l.counts = append(l.keys, key), append(l.counts, 0)
		l.at[key] = i
	case l.counts[0] < count:
		i = 0
		delete(l.at, l.keys[0])
		l.keys[0], l.at[key] = key, 0
	default:
		return
	}
	l.counts[i] = count
	heap.Fix(l, i)
}

// addToBoom counts each unit by itself, because the library adds one at a time.
func addToBoom(m *meter) error {
	const epsilon, delta = 0.0001, 0.01
	seconds := make(map[int64]*boom.CountMinSketch)
	heaps := make(map[int64]*largest)
	return passes(m, 1, func(r *sample.Record) error {
		at := r.Time / 1000
		counts := seconds[at]
		if counts == nil {
			counts = boom.NewCountMinSketch(epsilon, delta)
			seconds[at], heaps[at] = counts, &largest{at: make(map[string]int)}
		}
		key := []byte(r.PK.Text)
		for range weight(r) {
			counts.Add(key)
		}
		heaps[at].set(r.PK.Text, counts.Count(key))
		return nil
	}, func() { clear(seconds); clear(heaps) })
}

func addToTopK(m *meter) error {
	const hashes, columns = 4, 1 << 16
	seconds := make(map[int64]*topk.TopK[string])
	found := 0
	return passes(m, 1, func(r *sample.Record) error {
		at := r.Time / 1000
		counts := seconds[at]
		if counts == nil {
			counts = topk.NewWithParams(kept, func(b []byte, s string) []byte { return append(b, s...) }, hashes, columns)
			seconds[at] = counts
		}
		counts.AddN(r.PK.Text, weight(r))
		return nil
	}, func() {
		for _, s := range seconds {
			found += len(s.AppendTop(nil))
		}
		clear(seconds)
	})
}
