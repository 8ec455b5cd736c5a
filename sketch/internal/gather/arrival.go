package gather

import (
	"cmp"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
)

const (
	// binMillis is the length of a bin. A flush takes less. The first bin has the times in
	// whole seconds, and none beside them.
	binMillis = 20
	bins      = 1 + 1000/binMillis
	// producers is the most producers kept apart in a second, over all tables. Further ones are
	// ignored.
	producers = 256
	probes    = 4
	// A batch is batchCalls calls or more in at most batchWidth neighbouring bins, over
	// batchExcess times as full as the mean of the other used bins. A bin with less than
	// 1/batchEdge of the fullest bin's load ends the batch. Up to `batches` are looked for,
	// because hosts that flush under one name do so at different times.
	batches, batchWidth, batchEdge, batchExcess, batchCalls = 8, 3, 5, 5, 10
	// flushedShare is the part of the load from which batches matter. If a fifth of the
	// observed load belongs to another second, four fifths of a limit look like the whole
	// limit.
	flushedShare = 0.2
	// These are hundredths of a call. An item of a batch whose call is unknown counts as one of
	// a full call: 25 items in BatchWriteItem, 100 in BatchGetItem.
	oneCall, itemWritten, itemRead = 100, 4, 1
)

// Moment is the time of a record's requests within their second. The zero value is unknown.
type Moment struct {
	bin   int
	call  uint64 // a hash of the call's name, 0 if unknown
	calls uint64 // in hundredths
}

// MomentOf returns the time of a record's requests if a flush could have caused it, and
// otherwise the zero Moment.
//
// A record with a number of calls has a true time: by contract its requests are within the
// second, and the middleware that writes such records truncates their times to the second. The
// time of a change has no fraction of a second. A record that was folded before it was sampled
// has one time for many requests; its Draws already show that it proves nothing.
func MomentOf(r *sample.Record) (m Moment) {
	if r.Calls != 0 || r.Change || r.N > 1 && r.Rate < 1 {
		return m
	}
	ms := r.Time % 1000
	if ms < 0 {
		ms += 1000
	}
	m = Moment{bin: binOf(ms), calls: oneCall}
	switch {
	case r.Call != "":
		m.call = max(xxh3.HashString(r.Call), 1)
		return m
	case r.Op.TakesMany() && r.Op.IsRead():
		m.calls = itemRead
	case r.Op.TakesMany():
		m.calls = itemWritten
	}
	m.calls *= uint64(r.N)
	return m
}

// MomentAt returns the time of n requests, each a call of its own, at a millisecond of the
// second.
func MomentAt(ms, n int64) Moment {
	return Moment{bin: binOf(ms), calls: oneCall * uint64(n)}
}

func binOf(ms int64) int {
	if ms == 0 {
		return 0
	}
	return 1 + int(ms/binMillis)
}

// Bins are the times of some requests of one second. The zero value is ready.
type Bins struct {
	call   uint64 // the last one
	calls  [bins]uint32
	weight [bins]uint64
}

// Add counts requests of some weight.
func (b *Bins) Add(m Moment, weight uint64) {
	if m.calls == 0 {
		return
	}
	b.weight[m.bin] += weight
	if m.call != 0 && m.call == b.call {
		return
	}
	b.call = m.call
	b.calls[m.bin] = uint32(min(uint64(b.calls[m.bin])+m.calls, 1<<30))
}

// run is a range of neighbouring bins.
type run struct {
	from, to      int
	weight, calls uint64
}

// findFlush returns the weight of the requests that seem to have the time of a flush, and a bit
// for each 20 ms that they are in. It returns zeros if they are a small part.
func (b *Bins) findFlush() (weight, at uint64) {
	rest := b.weight
	var all uint64
	for _, w := range rest {
		all += w
	}
	var found [batches]run
	beside := rest // the bins outside of batches
	for i := range found {
		r := b.fullest(&rest)
		if r.weight == 0 { // no bin is left
			break
		}
		clear(rest[r.from:r.to])
		if r.to-r.from <= batchWidth && r.calls >= batchCalls*oneCall {
			found[i] = r
			clear(beside[r.from:r.to])
		}
	}
	mean := usedMean(&beside)
	for _, r := range found {
		if r.weight > batchExcess*uint64(r.to-r.from)*mean {
			weight += r.weight
			at |= 1<<r.to - 1<<r.from
		}
	}
	if float64(weight) < flushedShare*float64(all) {
		return 0, 0
	}
	return weight, at
}

// fullest returns the fullest bin and the neighbours that are nearly as full.
func (b *Bins) fullest(rest *[bins]uint64) (r run) {
	peak := 0
	for i, w := range rest {
		if w > rest[peak] {
			peak = i
		}
	}
	if rest[peak] == 0 {
		return r
	}
	r.from, r.to = peak, peak+1
	for r.from > 0 && batchEdge*rest[r.from-1] >= rest[peak] {
		r.from--
	}
	for r.to < bins && batchEdge*rest[r.to] >= rest[peak] {
		r.to++
	}
	for i := r.from; i < r.to; i++ {
		r.weight += rest[i]
		r.calls += uint64(b.calls[i])
	}
	return r
}

// usedMean returns the mean weight of the bins that are not empty.
func usedMean(beside *[bins]uint64) (mean uint64) {
	used := uint64(0)
	for _, w := range beside {
		if mean += w; w > 0 {
			used++
		}
	}
	return mean / max(used, 1)
}

// Times are the times of one second's records by producer. The zero value is ready.
type Times struct {
	slots []slot
	used  []uint16
	last  *slot
}

type slot struct {
	Bins
	caller uint64
	table  uint16
	live   bool
}

// Add counts requests of a table, made at m. caller is the hash of their caller, 0 if unknown.
func (t *Times) Add(table uint16, caller uint64, requests int64, m Moment) {
	if m.calls == 0 {
		return
	}
	s := t.last // most records share the producer of the record before
	if s == nil || s.caller != caller || s.table != table {
		if s = t.slot(table, caller); s == nil {
			return
		}
		t.last = s
	}
	s.Bins.Add(m, uint64(requests))
}

// slot returns a producer's slot, nil if there is no room for another.
func (t *Times) slot(table uint16, caller uint64) *slot {
	if t.slots == nil {
		t.slots = make([]slot, producers)
	}
	for i := range uint64(probes) {
		at := (caller + uint64(table) + i) % producers
		s := &t.slots[at]
		switch {
		case !s.live:
			*s = slot{caller: caller, table: table, live: true}
			t.used = append(t.used, uint16(at))
			return s
		case s.caller == caller && s.table == table:
			return s
		}
	}
	return nil
}

// Arrivals returns the arrivals of a table's requests, weighed by their number.
func (t *Times) Arrivals(table uint16) (a Arrivals) {
	for _, i := range t.used {
		if s := &t.slots[i]; s.table == table {
			a.Producers = append(a.Producers, s.producer(s.caller))
		}
	}
	slices.SortFunc(a.Producers, func(x, y Producer) int { return cmp.Compare(x.Caller, y.Caller) })
	return a
}

// Clear forgets all times and keeps the memory.
func (t *Times) Clear() {
	for _, at := range t.used {
		t.slots[at].live = false
	}
	t.used, t.last = t.used[:0], nil
}
