package sampling

import (
	"maps"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sketch"
)

// Clocks finds the producers of a table or index that write times in whole seconds, every
// second. Their times are the requests' own, to the second, even if a key has no requests
// in the seconds before. A producer is a caller, or the table if no caller is named. The
// zero value is ready.
type Clocks struct {
	runs map[uint64]seconds
	// table and flushed describe all requests of the second that Observe got last.
	table   Batch
	flushed float64
}

type seconds struct{ first, last int64 }

const (
	// wholeSeconds are the bits of a batch with all times in whole seconds.
	wholeSeconds = 1
	// allShare is the least share of a table's requests that counts as all of them. The
	// others may have no time of their own, or be too few to compare.
	allShare = 0.9
	// maxClocks is the number of producers above which Observe drops the absent ones.
	maxClocks = 64
)

// Observe records a second of the table or index. It may get the same second again.
func (c *Clocks) Observe(w *sketch.Window) {
	c.table, c.flushed = batchOf(w)
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

// Batch returns the flushed part of a key's load in the second that Observe got last.
// Times in whole seconds count as flushed too, but Own is set if their producers always
// write such times.
func (c *Clocks) Batch(w *sketch.Window, k *sketch.KeyLoad) Batch {
	b := batchOfKey(w, k, c.table, c.flushed)
	b.Own = b.At == wholeSeconds && c.areInWholeSeconds(w, k)
	return b
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
