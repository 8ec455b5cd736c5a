package sampling

import (
	"maps"
	"math/bits"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sketch"
)

// Clocks finds out whose times are the requests' own, to the second. They are if all
// times of the table or index are whole seconds: its producers write no finer ones. Beside
// others, they are for a producer that writes whole seconds in every second. A caller that
// spreads its requests over most seconds does not flush either: its bursts are bursts. A
// producer is a caller, or the table if no caller is named. The zero value is ready.
type Clocks struct {
	runs map[uint64]seconds
	// fraction is the newest second with a time that has a fraction of a second.
	fraction int64
	// spread has, for each caller, a bit for each of its seconds with spread requests.
	spread map[uint64]spreadSeconds
	// table and flushed describe all requests of the second that Observe got last.
	table   Batch
	flushed float64
}

type seconds struct{ first, last int64 }

// spreadSeconds are a bit for each of the last seconds, the lowest for newest.
type spreadSeconds struct {
	newest int64
	bits   uint64
}

const (
	// wholeSeconds are the bits of a batch with all times in whole seconds.
	wholeSeconds = 1
	// allShare is the least share of a table's requests that counts as all of them. The
	// others may have no time of their own, or be too few to compare.
	allShare = 0.9
	// maxClocks is the number of producers above which Observe drops the absent ones.
	maxClocks = 64
	// A caller of spreadLeast spread seconds, of the last spreadOf, does not flush.
	spreadLeast, spreadOf = 7, 10
)

// Observe records a second of the table or index. It may get the same second again.
func (c *Clocks) Observe(w *sketch.Window) {
	c.table, c.flushed = batchOf(w)
	if w.Arrivals.HasFractions() {
		c.fraction = max(c.fraction, w.Second)
	}
	c.table.Own = c.table.At == wholeSeconds && w.Second-c.fraction > detect.Horizon
	c.observeSpread(w)
	if c.table.At != wholeSeconds || c.table.Part < allShare {
		return
	}
	if c.runs == nil {
		c.runs = map[uint64]seconds{}
	}
	for _, producer := range producers(w.Callers, 0) {
		s, known := c.runs[producer]
		switch {
		case known && w.Second <= s.last:
			continue
		case !known || w.Second > s.last+1:
			s.first = w.Second
		}
		s.last = w.Second
		c.runs[producer] = s
	}
	if len(c.runs) > maxClocks {
		maps.DeleteFunc(c.runs, func(_ uint64, s seconds) bool { return s.last < w.Second })
	}
}

// BeforeReplay returns the clocks without what the seconds of a replay show again.
func (c *Clocks) BeforeReplay() Clocks { return Clocks{fraction: c.fraction} }

// observeSpread records which callers spread their requests over the second.
func (c *Clocks) observeSpread(w *sketch.Window) {
	for _, caller := range w.Arrivals.SpreadProducers() {
		if c.spread == nil {
			c.spread = map[uint64]spreadSeconds{}
		}
		s := c.spread[caller]
		if w.Second > s.newest {
			s.bits, s.newest = s.bits<<uint64(w.Second-s.newest), w.Second
		}
		s.bits |= 1 << uint64(s.newest-w.Second)
		c.spread[caller] = s
	}
	if len(c.spread) > maxClocks {
		maps.DeleteFunc(c.spread, func(_ uint64, s spreadSeconds) bool { return s.newest < w.Second })
	}
}

// Batch returns the flushed part of a key's load in the second that Observe got last.
// Times in whole seconds count as flushed too, but Own is set if their producers write no
// other times, or are known not to flush.
func (c *Clocks) Batch(w *sketch.Window, k *sketch.KeyLoad) Batch {
	b := batchOfKey(w, k, c.table, c.flushed)
	if b.Part > 0 {
		whole := b.At == wholeSeconds && (w.Second-c.fraction > detect.Horizon || c.areInWholeSeconds(w, k))
		b.Own = whole || c.areSpread(w, k)
	}
	return b
}

// areSpread reports whether all callers with much of a key's load spread their requests
// over nearly all of the last seconds.
func (c *Clocks) areSpread(w *sketch.Window, k *sketch.KeyLoad) bool {
	if k.Evidence == nil || len(k.Evidence.Callers.Entries) == 0 {
		return false
	}
	hashes := producersOf(w, k)
	for _, caller := range hashes {
		s := c.spread[caller]
		if age := w.Second - s.newest; age < 0 || age >= spreadOf || bits.OnesCount64(s.bits<<uint64(age)&(1<<spreadOf-1)) < spreadLeast {
			return false
		}
	}
	return len(hashes) > 0
}

// areInWholeSeconds reports whether all producers with much of a key's load write times
// in whole seconds, every second.
func (c *Clocks) areInWholeSeconds(w *sketch.Window, k *sketch.KeyLoad) bool {
	hashes := producersOf(w, k)
	for _, producer := range hashes {
		if s := c.runs[producer]; w.Second > s.last || w.Second < s.first+SteadySeconds-1 {
			return false
		}
	}
	return len(hashes) > 0
}

// producersOf returns the producers with much of a key's load, or the table's producers
// if the key has no evidence.
func producersOf(w *sketch.Window, k *sketch.KeyLoad) []uint64 {
	if e := k.Evidence; e != nil && len(w.Callers.Entries) > 0 {
		return producers(e.Callers, float64(detect.Weight(e.Load))*(1-allShare))
	}
	return producers(w.Callers, 0)
}

// producers returns the hashes of the callers with at least the given weight. If no
// caller is named, it returns 0 for the table.
func producers(callers sketch.Top, least float64) (all []uint64) {
	if len(callers.Entries) == 0 {
		return []uint64{0}
	}
	for _, e := range callers.Entries {
		if float64(e.Weight) >= least {
			all = append(all, e.Hash)
		}
	}
	return all
}
