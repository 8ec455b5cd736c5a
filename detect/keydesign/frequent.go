package keydesign

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// A table or index keeps up to maxKeysPerTable keys beyond single seconds, at about 160
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
	keys map[uint64]*keyCounters // by hash
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
	if f.keys == nil {
		f.keys = make(map[uint64]*keyCounters)
	}
	before, unlisted := f.total, f.unlisted.Plus(w.Unseen)
	f.total = f.total.Plus(w.Total.Load)
	for i := range w.Keys {
		k := &w.Keys[i]
		c := f.keys[k.Hash]
		if c == nil {
			c = &keyCounters{shortKey: newShortKey(k, w.Second, types), err: f.most, unlisted: f.unlisted, before: before}
			f.keys[k.Hash] = c
		}
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

func (f *frequentKeys) high(c *keyCounters) sketch.Load {
	return c.low.Plus(c.err).Plus(detect.Sub(f.unlisted, c.unlisted))
}

func (f *frequentKeys) highest(c *keyCounters) sample.Milli { return detect.Weight(f.high(c)) }

func (f *frequentKeys) keepsAll() bool { return f.most == sketch.Load{} }

// evict makes a new map, since a map never shrinks.
func (f *frequentKeys) evict(room int) {
	order := f.sortedBy(f.highest)
	for _, c := range order[room:] {
		f.most = detect.MaxLoad(f.most, f.high(c))
	}
	f.keys = make(map[uint64]*keyCounters, room)
	for _, c := range order[:room] {
		f.keys[c.hash] = c
	}
}

// sortedBy returns the kept keys, the heaviest first.
func (f *frequentKeys) sortedBy(weigh func(*keyCounters) sample.Milli) []*keyCounters {
	return slices.SortedFunc(maps.Values(f.keys), func(a, b *keyCounters) int {
		return cmp.Or(cmp.Compare(weigh(b), weigh(a)), cmp.Compare(a.hash, b.hash))
	})
}

// top returns up to n keys, by the load that is proven.
func (f *frequentKeys) top(n int) []*keyCounters {
	all := f.sortedBy(func(c *keyCounters) sample.Milli { return detect.Weight(c.low) })
	return all[:min(n, len(all))]
}
