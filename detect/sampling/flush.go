package sampling

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sketch"
)

// Batch is the part of a load in a second whose requests have the times of a flush, zero
// where that is little, and a bit for each 20 ms in which they are.
type Batch struct {
	Part float64
	At   uint64
	// Own reports that the times are the requests' own, as far as their producers tell
	// them: see [Clocks].
	Own bool
}

// batchOf returns that of all requests of a table or index in a second, and how many have
// the times of a flush.
func batchOf(w *sketch.Window) (b Batch, flushed float64) {
	weight, at := w.Arrivals.Decide()
	return newBatch(float64(weight), float64(w.Total.Requests), at), float64(weight)
}

// batchOfKey returns that of a key, as its evidence tells; of one without any, and with
// more than a few requests, as for its table, of which batchOf returned table and flushed. A
// producer flushes all it has: where none of the key's flushed as much, it was a burst on
// this key.
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
		return b
	case k.Requests < detect.MinRecords:
		return Batch{}
	}
	return table
}

// requestsOf returns about how many requests the least of some producers made in a second.
func requestsOf(w *sketch.Window, of []uint64) float64 {
	least := uint64(detect.Weight(w.Total.Load))
	for _, e := range w.Callers.Entries {
		if slices.Contains(of, e.Hash) {
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

// Follows reports whether a batch is where that of the second before it was: those of
// several hosts, who flush one after another, are not.
func (b Batch) Follows(before Batch) bool {
	return b.Part > 0 && b.At&^(before.At<<1|before.At|before.At>>1) == 0
}

// Batches add up those of several keys.
type Batches struct {
	load    sketch.Load
	flushed float64
	at      uint64
}

// Add adds a key's load, and what of it was flushed.
func (s *Batches) Add(l sketch.Load, b Batch) {
	s.load = s.load.Plus(l)
	if !b.Own {
		s.flushed, s.at = s.flushed+b.Part*float64(detect.Weight(l)), s.at|b.At
	}
}

// Batch returns their sum.
func (s *Batches) Batch() Batch { return newBatch(s.flushed, float64(detect.Weight(s.load)), s.at) }

// Sum records what the keys flushed in a second, as [Flushes.Table] does.
func (f *Flushes) Sum(s *Batches, second int64) (part, seconds float64) {
	return f.partOf(second, s.load, s.Batch())
}

// Table records what was flushed of a table or index in a second, and returns the part of
// the load that it is, and over how many seconds; no part where times are those of
// requests.
func (f *Flushes) Table(w *sketch.Window) (part, seconds float64) {
	b, _ := batchOf(w)
	return f.partOf(w.Second, w.Total.Load, b)
}

func (f *Flushes) partOf(second int64, of sketch.Load, b Batch) (part, seconds float64) {
	if b.Part > 0 {
		if seconds, flushed := f.Span(second, of, b, 0); flushed {
			return b.Part, seconds
		}
	}
	return 0, 1
}

// SteadySeconds is how many seconds must follow one another for their times to be those
// of requests: a flush that begins near the end of a second is in two, and those of
// 1.5 s whose times are cut to seconds are in two of three.
const SteadySeconds = 3

// Flushes are the last seconds of a key, or of a table or index, with requests that have
// the times of a flush, the newest first. The zero value is ready.
type Flushes [1 + flushGaps]flush

type flush struct {
	second int64
	load   float64
	Batch
}

// flushGaps is over how many of the times between flushes the mean is taken: hosts under
// one name flush one after another.
const flushGaps = 8

// Span records what was flushed of a load in a second, again or for the first time, and
// returns over how many seconds it would be the mean of the last flushes, and of the
// times before them. It is not a flush where each of some seconds has one at the same part
// of it, of which `ahead` are known to follow: these are the requests' own times, or as
// good as those. The time before the first flush is not known, and taken for as long as
// any.
func (f *Flushes) Span(second int64, of sketch.Load, b Batch, ahead int) (seconds float64, flushed bool) {
	load := b.Part * float64(detect.Weight(of))
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

// put records a flush, in place of what was known of its second.
func (f *Flushes) put(of flush) {
	i := slices.IndexFunc(f[:], func(o flush) bool { return o.second <= of.second })
	switch {
	case i < 0:
		return // long past
	case f[i].second != of.second:
		copy(f[i+1:], f[i:])
	}
	f[i] = of
}
