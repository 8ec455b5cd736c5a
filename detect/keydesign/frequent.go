package keydesign

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Of a table or index maxKeysPerTable keys are counted beyond single seconds, about
// 130 bytes and the key's text each; where there are many tables fewer, so that
// all together have about maxKeys, but no fewer than minKeysPerTable.
const maxKeysPerTable, minKeysPerTable, maxKeys = 512, 64, 64 << 10

// keysPerTable returns how many keys each of so many tables may have.
func keysPerTable(tables int) int {
	return max(minKeysPerTable, min(maxKeysPerTable, maxKeys/max(tables, 1)))
}

// frequentKeys counts the keys of a table or index with the most load over many
// seconds, in bounded memory. It is Space-Saving (Metwally, Agrawal and El
// Abbadi 2005) over whole seconds as its batches: a key that leaves takes the
// highest that it can have had into most, which is what a key that comes may
// have had before. So every key's load is between its low and its high, and
// none that is not kept had more than most.
type frequentKeys struct {
	keys []keyCounters // by hash
	// most is the most that any key which is not kept can have had; unlisted the
	// most that a kept one had in all seconds that did not list it, had there
	// been none that did.
	most, unlisted sketch.Load
	// total is the load of all keys so far.
	total sketch.Load
}

// keyCounters are those of one key. There are up to twice keysPerTable of them, most of
// what a small table takes.
type keyCounters struct {
	shortKey
	last uint32 // second that lists the key
	// requests are so many at least: from some on nobody asks how many more.
	requests uint32
	low, err sketch.Load
	// unlisted is the summary's as far as it is in err.
	unlisted sketch.Load
	// before and through are all keys' load before the first second that lists
	// the key, and through the last: a date's key is judged by its own day.
	before, through sketch.Load
}

// add counts a complete second, and keeps up to twice as many keys as there is room.
func (f *frequentKeys) add(w *sketch.Window, room int, types *keyTypes) {
	before, unlisted := f.total, f.unlisted.Plus(w.Unseen)
	f.total = f.total.Plus(w.Total.Load)
	f.admit(w, before, room, types)
	at := 0
	for i := range w.Keys {
		k := &w.Keys[i]
		n, _ := f.find(at, k.Hash)
		at += n
		c := &f.keys[at]
		c.list(k, w.Second, types)
		c.err = c.err.Plus(detect.Sub(f.unlisted, c.unlisted)).Plus(k.Err)
		c.low, c.unlisted, c.through = c.low.Plus(k.Low), unlisted, f.total
		c.requests = uint32(min(int64(c.requests)+k.Requests, math.MaxUint32))
		c.last = max(c.last, shortSecond(w.Second))
	}
	f.most, f.unlisted = f.most.Plus(w.Unseen), unlisted
	if len(f.keys) > 2*room {
		f.evict(room)
	}
}

// find returns the place of a hash among the keys from one on, and whether it is there. It
// copies none of them, as slices.BinarySearchFunc does at each step.
func (f *frequentKeys) find(from int, hash uint64) (int, bool) {
	keys := f.keys[from:]
	n := sort.Search(len(keys), func(i int) bool { return keys[i].hash >= hash })
	return n, n < len(keys) && keys[n].hash == hash
}

// admit begins to count those keys of a second that are not counted yet. Both are in the
// order of hashes, and so they are merged from the end.
func (f *frequentKeys) admit(w *sketch.Window, before sketch.Load, room int, types *keyTypes) {
	fresh, at := 0, 0
	for i := range w.Keys {
		n, found := f.find(at, w.Keys[i].Hash)
		at += n
		if !found {
			fresh++
		}
	}
	old := len(f.keys)
	f.grow(fresh, 2*room)
	for i := len(w.Keys) - 1; fresh > 0; i-- {
		k := &w.Keys[i]
		for old > 0 && f.keys[old-1].hash > k.Hash {
			f.keys[old-1+fresh] = f.keys[old-1]
			old--
		}
		if old > 0 && f.keys[old-1].hash == k.Hash {
			continue
		}
		fresh--
		f.keys[old+fresh] = keyCounters{shortKey: newShortKey(k, w.Second, types), err: f.most, unlisted: f.unlisted, before: before}
	}
}

// grow makes place for more keys, and for an eighth beyond them as far as that is not more
// than most: append would double it.
func (f *frequentKeys) grow(more, most int) {
	need := len(f.keys) + more
	if need > cap(f.keys) {
		f.keys = append(make([]keyCounters, 0, max(need, min(need+need/8, most))), f.keys...)
	}
	f.keys = f.keys[:need]
}

// high returns the most that the key can have had.
func (f *frequentKeys) high(c *keyCounters) sketch.Load {
	return c.low.Plus(c.err).Plus(detect.Sub(f.unlisted, c.unlisted))
}

// highest returns that as a weight.
func (f *frequentKeys) highest(c *keyCounters) sample.Milli { return detect.Weight(f.high(c)) }

// all reports whether every key with any load is kept.
func (f *frequentKeys) all() bool { return f.most == sketch.Load{} }

// evict drops the keys that can have had least.
func (f *frequentKeys) evict(room int) {
	order := f.sortedBy(f.highest)
	for _, c := range order[room:] {
		f.most = detect.MaxLoad(f.most, f.high(c))
	}
	least, last := f.highest(order[room-1]), order[room-1].hash
	f.keys = slices.DeleteFunc(f.keys, func(c keyCounters) bool {
		return cmp.Or(cmp.Compare(least, f.highest(&c)), cmp.Compare(c.hash, last)) > 0
	})
	if cap(f.keys) > 3*room { // after a second with many keys
		f.keys = append(make([]keyCounters, 0, 2*room), f.keys...)
	}
}

// sortedBy returns the kept keys, those with the most first.
func (f *frequentKeys) sortedBy(by func(*keyCounters) sample.Milli) []*keyCounters {
	all := make([]*keyCounters, len(f.keys))
	for i := range f.keys {
		all[i] = &f.keys[i]
	}
	slices.SortFunc(all, func(a, b *keyCounters) int {
		return cmp.Or(cmp.Compare(by(b), by(a)), cmp.Compare(a.hash, b.hash))
	})
	return all
}

// top returns the keys that have proven the most load.
func (f *frequentKeys) top(n int) []*keyCounters {
	all := f.sortedBy(func(c *keyCounters) sample.Milli { return detect.Weight(c.low) })
	return all[:min(n, len(all))]
}
