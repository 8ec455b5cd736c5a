package sampling

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sketch"
)

// Batch is the part of a second's load whose requests have the times of a flush, and a
// bit for each 20 ms that they are in. A small part counts as zero.
type Batch struct {
	Part float64
	At   uint64
	// Own reports that the times are the requests' own, as precise as their producers
	// write them: see [Clocks].
	Own bool
	// Folded reports that records count several requests of their second. Several such
	// seconds in a row prove their load, at whatever part of the second.
	Folded bool
}

// batchOf returns the batch of all requests of a table or index in a second, and the
// number of requests with the times of a flush.
func batchOf(w *sketch.Window) (b Batch, flushed float64) {
	weight, at := w.Arrivals.Decide()
	return newBatch(float64(weight), float64(w.Total.Requests), at), float64(weight)
}

// batchOfKey returns the batch of a key by its evidence. Without evidence, a key with
// more than a few requests gets the table's batch. table and flushed come from batchOf. A
// producer flushes all of its requests, so the key had a burst of its own if no producer
// of the key flushed as much.
func batchOfKey(w *sketch.Window, k *sketch.KeyLoad, table Batch, flushed float64) Batch {
	switch e := k.Evidence; {
	case e != nil && detect.Weight(e.Load) > 0:
		weight, at := e.Arrivals.Decide()
		b := newBatch(float64(weight), float64(detect.Weight(e.Load)), at)
		if b.Part == 0 {
			return b
		}
		least := max(b.Part*float64(k.Requests)/2, detect.FlushedShare*requestsOf(w, producersOf(w, k)))
		if flushed < least {
			return Batch{}
		}
		b.Folded = k.Requests >= foldedRequests*e.Seen
		return b
	case k.Requests < detect.MinRecords:
		return Batch{}
	}
	return table
}

// foldedRequests is the mean number of requests a record from which a key's records are
// folded.
const foldedRequests = 2

// requestsOf returns about how many requests the least active of some producers made in a
// second.
func requestsOf(w *sketch.Window, hashes []uint64) float64 {
	least := uint64(detect.Weight(w.Total.Load))
	for _, e := range w.Callers.Entries {
		if slices.Contains(hashes, e.Hash) {
			least = min(least, e.Weight)
		}
	}
	return float64(w.Total.Requests) * detect.Ratio(float64(least), float64(detect.Weight(w.Total.Load)))
}

func newBatch(flushed, all float64, at uint64) Batch {
	part := detect.Ratio(flushed, all)
	if part < detect.FlushedShare {
		return Batch{}
	}
	return Batch{Part: min(part, 1), At: at}
}

// Follows reports whether a batch is at the same part of its second as the batch of the
// second before, or both are folded. Flushes of several hosts, one after another, are not.
func (b Batch) Follows(before Batch) bool {
	return b.Part > 0 && (b.Folded && before.Folded || b.At&^(before.At<<1|before.At|before.At>>1) == 0)
}

// Batches adds up the batches of several keys.
type Batches struct {
	load    sketch.Load
	flushed float64
	at      uint64
	loose   bool // some flushed requests have records of their own
}

// Add adds a key's load, and the part of it that was flushed.
func (s *Batches) Add(l sketch.Load, b Batch) {
	s.load = s.load.Plus(l)
	if !b.Own {
		s.flushed, s.at, s.loose = s.flushed+b.Part*float64(detect.Weight(l)), s.at|b.At, s.loose || b.Part > 0 && !b.Folded
	}
}

// Batch returns the batch of all added keys.
func (s *Batches) Batch() Batch {
	b := newBatch(s.flushed, float64(detect.Weight(s.load)), s.at)
	b.Folded = b.Part > 0 && !s.loose
	return b
}

// Sum records the keys' flushes in a second, as [Flushes.Table] does.
func (f *Flushes) Sum(s *Batches, second int64) (part, seconds float64) {
	return f.record(second, s.load, s.Batch())
}

// Table records the flushes of a table or index in a second. It returns the flushed part
// of the load, and the seconds that it gathered over. The part is zero if times are
// the requests' own. The clocks must have observed the second last.
func (f *Flushes) Table(w *sketch.Window, c *Clocks) (part, seconds float64) {
	return f.record(w.Second, w.Total.Load, c.table)
}

func (f *Flushes) record(second int64, load sketch.Load, b Batch) (part, seconds float64) {
	if b.Part > 0 {
		if seconds, flushed := f.Span(second, load, b, 0); flushed {
			return b.Part, seconds
		}
	}
	return 0, 1
}

// SteadySeconds is the number of consecutive seconds from which their times count as the
// requests' own. Flushes reach fewer. A flush that begins near the end of a second is in
// two. Flushes every 1.5 s with times cut to seconds are in two of three.
const SteadySeconds = 3

// Flushes are the last seconds of a key, table or index with flushed requests, the newest
// first. The zero value is ready.
type Flushes [1 + flushGaps]flush

type flush struct {
	second int64
	load   float64
	Batch
}

// flushGaps is the number of gaps between flushes in their mean: hosts under one name
// flush one after another.
const flushGaps = 8

// Span records the flushed load of a second. It may get the same second again. It returns
// the seconds over which this load equals the mean of the last flushes and the gaps
// before them. The load was not flushed if several seconds in a row have it at the same
// part of the second: such times are the requests' own. ahead is the number of seconds
// known to follow in this row. The gap before the first flush is unknown, and counts as
// the longest.
func (f *Flushes) Span(second int64, total sketch.Load, b Batch, ahead int) (seconds float64, flushed bool) {
	load := b.Part * float64(detect.Weight(total))
	f.put(flush{second, load, b})
	time, sum, steady, broken := int64(0), 0.0, 1+ahead, false
	for i, x := range f[:flushGaps] {
		if x.second == 0 || x.second > second {
			continue
		}
		before := f[i+1]
		gap := min(x.second-before.second, detect.MeanLongest)
		if broken = broken || gap > 1 || !x.Follows(before.Batch); !broken {
			steady++
		}
		time, sum = time+gap, sum+x.load
	}
	flushed = !b.Own && steady < SteadySeconds
	if sum <= 0 {
		return detect.MeanLongest, flushed
	}
	return float64(time) * load / sum, flushed
}

// put records a flush. It replaces the record of the same second.
func (f *Flushes) put(entry flush) {
	i := slices.IndexFunc(f[:], func(o flush) bool { return o.second <= entry.second })
	switch {
	case i < 0:
		return // too old to keep
	case f[i].second != entry.second:
		copy(f[i+1:], f[i:])
	}
	f[i] = entry
}
