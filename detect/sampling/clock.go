package sampling

import (
	"maps"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sketch"
)

// Clocks are the producers of a table or index whose times are in whole seconds, every
// second: what such a one writes of a key has the time of the requests, as far as it
// tells it, also where the key has none in the seconds before. A producer is a caller,
// or the table where none is named. The zero value is ready.
type Clocks struct {
	kept map[uint64]seconds
	// table and flushed are of all requests of the second that was observed last.
	table   Batch
	flushed float64
}

type seconds struct{ first, last int64 }

const (
	// wholeSeconds is what a batch's bits are where all times are in whole seconds.
	wholeSeconds = 1
	// allShare is the part of a table's requests from which times are all alike: a few may
	// have no time of their own, or be one of too few.
	allShare = 0.9
	// maxClocks is of how many producers of a table it is known.
	maxClocks = 64
)

// Observe records a second of the table or index, again or for the first time.
func (c *Clocks) Observe(w *sketch.Window) {
	c.table, c.flushed = batchOf(w)
	if c.table.At != wholeSeconds || c.table.Part < allShare {
		return
	}
	if c.kept == nil {
		c.kept = map[uint64]seconds{}
	}
	for _, producer := range producers(w.Callers, 0) {
		s, known := c.kept[producer]
		switch {
		case known && w.Second <= s.last:
			continue
		case !known || w.Second > s.last+1:
			s.first = w.Second
		}
		s.last = w.Second
		c.kept[producer] = s
	}
	if len(c.kept) > maxClocks {
		maps.DeleteFunc(c.kept, func(_ uint64, s seconds) bool { return s.last < w.Second })
	}
}

// Batch returns the part of the load of a key, in the second that was observed last, that has the times of a flush, or of producers who
// write times in whole seconds.
func (c *Clocks) Batch(w *sketch.Window, k *sketch.KeyLoad) Batch {
	b := batchOfKey(w, k, c.table, c.flushed)
	b.Own = b.At == wholeSeconds && c.keep(w, k)
	return b
}

// keep reports whether all producers with much of a key's load write times in whole
// seconds, every second.
func (c *Clocks) keep(w *sketch.Window, k *sketch.KeyLoad) bool {
	of := producersOf(w, k)
	for _, producer := range of {
		if s := c.kept[producer]; w.Second > s.last || w.Second < s.first+SteadySeconds-1 {
			return false
		}
	}
	return len(of) > 0
}

// producersOf returns those with much of a key's load, or of its table's where nothing
// tells.
func producersOf(w *sketch.Window, k *sketch.KeyLoad) []uint64 {
	if e := k.Evidence; e != nil && len(w.Callers.Entries) > 0 {
		return producers(e.Callers, float64(detect.Weight(e.Load))*(1-allShare))
	}
	return producers(w.Callers, 0)
}

// producers returns the callers with at least so much weight, or what stands for the
// table where none is named.
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
