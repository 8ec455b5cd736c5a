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

// A table or index keeps up to maxKeysPerTable keys beyond single seconds, at about 130
// bytes and the key's text each. With many tables each keeps fewer, so that together they
// keep about maxKeys, but no fewer than minKeysPerTable.
const maxKeysPerTable, minKeysPerTable, maxKeys = 512, 64, 64 << 10

func keysPerTable(tables int) int {
	return max(minKeysPerTable, min(maxKeysPerTable, maxKeys/max(tables, 1)))
}

// frequentKeys counts the keys of a table or index with the most load over many seconds,
// in bounded memory. It is Space-Saving (Metwally, Agrawal and El Abbadi 2005) with whole
// seconds as its batches. An evicted key raises most to its upper bound, and a new key
// may have had most before. So every kept key's load is between its low and its high, and
// no other key had more than most.
type frequentKeys struct {
	keys []keyCounters // by hash
	// most is the upper bound of every key that is not kept. unlisted is the sum, over
	// all seconds, of the most that a key can have had without being listed.
	most, unlisted sketch.Load
	// total is the load of all keys so far.
	total sketch.Load
}

// keyCounters count one key. A table has up to twice keysPerTable of them, and they take
// most of a small table's memory.
type keyCounters struct {
	shortKey
	last uint32 // last second that lists the key
	// requests stops at the largest uint32.
	requests uint32
	low, err sketch.Load
	// unlisted is the part of frequentKeys.unlisted that err accounts for.
	unlisted sketch.Load
	// before and through are the load of all keys before the first second that lists the
	// key, and through the last one. So a date's key is judged by its own day.
	before, through sketch.Load
}

// add counts a complete second. It keeps up to twice as many keys as there is room for.
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

// find returns the index of a hash in f.keys, counted from an index on, and whether the
// hash is there. Unlike slices.BinarySearchFunc it copies no key.
func (f *frequentKeys) find(from int, hash uint64) (int, bool) {
	keys := f.keys[from:]
	n := sort.Search(len(keys), func(i int) bool { return keys[i].hash >= hash })
	return n, n < len(keys) && keys[n].hash == hash
}

// admit adds the keys of a second that are not counted yet. Both lists are sorted by
// hash, so admit merges them from the end.
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

// grow adds room for more keys, and for an eighth beyond them if that is at most most.
// append would double the memory.
func (f *frequentKeys) grow(more, most int) {
	need := len(f.keys) + more
	if need > cap(f.keys) {
		f.keys = append(make([]keyCounters, 0, max(need, min(need+need/8, most))), f.keys...)
	}
	f.keys = f.keys[:need]
}

func (f *frequentKeys) high(c *keyCounters) sketch.Load {
	return c.low.Plus(c.err).Plus(detect.Sub(f.unlisted, c.unlisted))
}

func (f *frequentKeys) highest(c *keyCounters) sample.Milli { return detect.Weight(f.high(c)) }

func (f *frequentKeys) keepsAll() bool { return f.most == sketch.Load{} }

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

// sortedBy returns the kept keys, the heaviest first.
func (f *frequentKeys) sortedBy(weigh func(*keyCounters) sample.Milli) []*keyCounters {
	all := make([]*keyCounters, len(f.keys))
	for i := range f.keys {
		all[i] = &f.keys[i]
	}
	slices.SortFunc(all, func(a, b *keyCounters) int {
		return cmp.Or(cmp.Compare(weigh(b), weigh(a)), cmp.Compare(a.hash, b.hash))
	})
	return all
}

// top returns up to n keys, by the load that is proven.
func (f *frequentKeys) top(n int) []*keyCounters {
	all := f.sortedBy(func(c *keyCounters) sample.Milli { return detect.Weight(c.low) })
	return all[:min(n, len(all))]
}
