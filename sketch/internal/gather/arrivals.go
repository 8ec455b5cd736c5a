package gather

import (
	"cmp"
	"slices"
)

// Arrivals are the times of requests of one second, for deciding whether they were flushed. In
// a part of a second, a few records of many requests each look like flushes, although the
// merged second shows none. So parts carry their times, and the whole second decides.
type Arrivals struct {
	// Flushed is the weight of requests already found to be flushed. FlushedAt has a bit for
	// each 20 ms that they are in.
	Flushed, FlushedAt uint64
	// Fractions reports that a request of Flushed, or one that was not kept, has a time with a
	// fraction of a second.
	Fractions bool
	// Producers are the undecided requests, in the order of Caller.
	Producers []Producer
}

// Producer is the requests of one producer in one second.
type Producer struct {
	// Caller is the hash of the producer's name, 0 if it is not known.
	Caller uint64
	// Bins are the bins with requests, in the order of time.
	Bins []Bin
}

// Bin is 20 ms of a second.
type Bin struct {
	// Weight is the weight of the bin's requests.
	Weight uint64
	// Calls is the number of calls in hundredths, at most MaxCalls.
	Calls uint16
	// At is the number of the bin.
	At uint8
}

const (
	// Count is how many bins a second has.
	Count = bins
	// spreadBins is the least number of bins that a producer uses whose requests are spread.
	// Hosts that flush under one name use fewer.
	spreadBins = 20
	// MaxCalls is the most that Bin.Calls counts. More calls do not change the decision.
	MaxCalls = batchCalls * oneCall
)

// producer returns the bins that are not empty.
func (b *Bins) producer(caller uint64) Producer {
	used := 0
	for _, w := range b.weight {
		if w > 0 {
			used++
		}
	}
	p := Producer{Caller: caller, Bins: make([]Bin, 0, used)}
	for i, w := range b.weight {
		if w > 0 {
			p.Bins = append(p.Bins, Bin{Weight: w, Calls: uint16(min(b.calls[i], MaxCalls)), At: uint8(i)})
		}
	}
	return p
}

// Arrivals returns the times as one producer without a name.
func (b *Bins) Arrivals() Arrivals {
	if p := b.producer(0); len(p.Bins) > 0 {
		return Arrivals{Producers: []Producer{p}}
	}
	return Arrivals{}
}

// Decide returns the weight of all flushed requests, and a bit for each 20 ms that they are in.
func (a Arrivals) Decide() (flushed, at uint64) {
	flushed, at = a.Flushed, a.FlushedAt
	for i := range a.Producers {
		w, in := a.Producers[i].findFlush()
		flushed, at = flushed+w, at|in
	}
	return flushed, at
}

// Settle returns the arrivals after the decision, without their times.
func (a Arrivals) Settle() (d Arrivals) {
	d.Flushed, d.FlushedAt = a.Decide()
	d.Fractions = a.HasFractions()
	return d
}

// HasFractions reports whether a request has a time with a fraction of a second.
func (a Arrivals) HasFractions() bool {
	return a.Fractions || slices.ContainsFunc(a.Producers, func(p Producer) bool {
		return len(p.Bins) > 0 && p.Bins[len(p.Bins)-1].At > 0
	})
}

// SpreadProducers returns the named producers that spread their requests over the second.
func (a Arrivals) SpreadProducers() (callers []uint64) {
	for i := range a.Producers {
		p := &a.Producers[i]
		if p.Caller == 0 || len(p.Bins) < spreadBins {
			continue
		}
		if weight, _ := p.findFlush(); weight == 0 {
			callers = append(callers, p.Caller)
		}
	}
	return callers
}

// findFlush finds a flush as Bins.findFlush does.
func (p *Producer) findFlush() (weight, at uint64) {
	var b Bins
	for _, in := range p.Bins {
		b.weight[in.At], b.calls[in.At] = in.Weight, uint32(in.Calls)
	}
	return b.findFlush()
}

// Plus adds the arrivals of another part of the same second. It changes neither.
func (a Arrivals) Plus(o Arrivals) Arrivals {
	sum := Arrivals{Flushed: a.Flushed + o.Flushed, FlushedAt: a.FlushedAt | o.FlushedAt, Fractions: a.Fractions || o.Fractions}
	sum.Producers = merge(a.Producers, o.Producers, func(x, y Producer) int { return cmp.Compare(x.Caller, y.Caller) }, func(x, y Producer) Producer {
		return Producer{x.Caller, merge(x.Bins, y.Bins, func(x, y Bin) int { return cmp.Compare(x.At, y.At) }, func(x, y Bin) Bin {
			return Bin{x.Weight + y.Weight, min(x.Calls+y.Calls, MaxCalls), x.At}
		})}
	})
	return sum
}

// merge merges two sorted lists and adds equal elements.
func merge[T any](a, b []T, compare func(x, y T) int, add func(x, y T) T) []T {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, compare)
	kept := all[:1]
	for _, x := range all[1:] {
		if last := &kept[len(kept)-1]; compare(*last, x) == 0 {
			*last = add(*last, x)
			continue
		}
		kept = append(kept, x)
	}
	return slices.Clip(kept)
}
