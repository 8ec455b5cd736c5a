package keydesign

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Of a table or index maxKeysPerTable keys are counted beyond single seconds, about
// 200 bytes and the key's text each; where there are many tables fewer, so that
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
	keys map[uint64]*keyCounters
	// most is the most that any key which is not kept can have had; unlisted the
	// most that a kept one had in all seconds that did not list it, had there
	// been none that did.
	most, unlisted sketch.Load
	// total is the load of all keys so far.
	total sketch.Load
}

// keyCounters are those of one key.
type keyCounters struct {
	hash     uint64
	key      sample.Key
	cut      bool
	low, err sketch.Load
	requests int64
	// unlisted is the summary's as far as it is in err.
	unlisted sketch.Load
	// before and through are all keys' load before the first second that lists
	// the key, and through the last: a date's key is judged by its own day.
	before, through sketch.Load
	first, last     int64 // those seconds
}

func newFrequentKeys() frequentKeys { return frequentKeys{keys: map[uint64]*keyCounters{}} }

// add counts a complete second, and keeps up to twice as many keys as there is room.
func (f *frequentKeys) add(w *sketch.Window, room int) {
	before, unlisted := f.total, f.unlisted.Plus(w.Unseen)
	f.total = f.total.Plus(w.Total.Load)
	for i := range w.Keys {
		k := &w.Keys[i]
		c := f.keys[k.Hash]
		if c == nil {
			c = &keyCounters{hash: k.Hash, key: k.Key, cut: k.Cut, err: f.most, unlisted: f.unlisted, before: before, first: w.Second}
			f.keys[k.Hash] = c
		}
		if c.cut && !k.Cut {
			c.key, c.cut = k.Key, false
		}
		c.err = c.err.Plus(detect.Sub(f.unlisted, c.unlisted)).Plus(k.Err)
		c.low, c.unlisted, c.through = c.low.Plus(k.Low), unlisted, f.total
		c.requests += k.Requests
		c.first, c.last = min(c.first, w.Second), max(c.last, w.Second)
	}
	f.most, f.unlisted = f.most.Plus(w.Unseen), unlisted
	if len(f.keys) > 2*room {
		f.evict(room)
	}
}

// high returns the most that the key can have had.
func (f *frequentKeys) high(c *keyCounters) sketch.Load {
	return c.low.Plus(c.err).Plus(detect.Sub(f.unlisted, c.unlisted))
}

// all reports whether every key with any load is kept.
func (f *frequentKeys) all() bool { return f.most == sketch.Load{} }

// evict drops the keys that can have had least.
func (f *frequentKeys) evict(room int) {
	order := f.ordered(func(c *keyCounters) sample.Milli { return detect.Weight(f.high(c)) })
	for _, c := range order[min(len(order), room):] {
		f.most = detect.MaxLoad(f.most, f.high(c))
		delete(f.keys, c.hash)
	}
}

// ordered returns the kept keys, those with the most first.
func (f *frequentKeys) ordered(by func(*keyCounters) sample.Milli) []*keyCounters {
	all := make([]*keyCounters, 0, len(f.keys))
	for _, c := range f.keys {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *keyCounters) int {
		return cmp.Or(cmp.Compare(by(b), by(a)), cmp.Compare(a.hash, b.hash))
	})
	return all
}

// top returns the keys that have proven the most load.
func (f *frequentKeys) top(n int) []*keyCounters {
	all := f.ordered(func(c *keyCounters) sample.Milli { return detect.Weight(c.low) })
	return all[:min(n, len(all))]
}
