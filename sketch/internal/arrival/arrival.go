// Package arrival tells whether the times of a second's records are those of
// requests, or of the moment at which a producer flushed what it had gathered.
//
// Times are counted in bins of 20 ms: of a key, and of a producer, which is the caller
// where it is known and the table where it is not. A burst of 20 ms looks like a flush,
// and so does a second whose times are written in whole seconds: whoever judges a flushed
// second knows how long nothing came before it.
package arrival

import (
	"cmp"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
)

const (
	// binMillis is the length of a bin: a flush takes less.
	binMillis = 20
	bins      = 1000 / binMillis
	// producers is how many are told apart in a second, over all tables; those
	// beyond it are not looked at.
	producers = 256
	probes    = 4
	// A batch is batchCalls calls or more in at most batchWidth neighbouring bins, which
	// are over batchExcess times as full as others that have any. What has less
	// than a batchEdge of the fullest bin is beside it. batches are looked for: hosts that
	// flush under one name do so at different times.
	batches, batchWidth, batchEdge, batchExcess, batchCalls = 8, 3, 5, 5, 10
	// flushedShare is the part of the load from which batches matter: a load of four fifths
	// of a limit is over it when a fifth of what is seen is another second's.
	flushedShare = 0.2
	// An item of a BatchWriteItem or BatchGetItem whose call is unknown counts by the most
	// items that a call has, 25 written or 100 read, in hundredths of a call.
	oneCall, itemWritten, itemRead = 100, 4, 1
)

// Moment is when a record's requests were, within their second; the zero value tells
// nothing.
type Moment struct {
	bin   int
	call  uint64 // which one, where that is known
	calls uint64 // in hundredths
}

// MomentOf returns when a record's requests were, if a flush could have made its time. Of a
// record which says how many calls it came from it could not: its n requests are within
// the second by contract, and the middleware that writes such records folds their times
// to the second. Nor of a change, whose time has no parts of a second. One that was
// folded and then drawn is one time for many requests whatever its producer does: that
// nothing of it can be proven, its draws tell.
func MomentOf(r *sample.Record) (m Moment) {
	if r.Calls != 0 || r.Change || r.N > 1 && r.Rate < 1 {
		return m
	}
	ms := r.Time % 1000
	if ms < 0 {
		ms += 1000
	}
	m = Moment{bin: int(ms / binMillis), calls: oneCall}
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

// MomentAt returns when n requests were that were a call each, by their milliseconds in the
// second.
func MomentAt(ms uint64, n int64) Moment {
	return Moment{bin: int(ms / binMillis), calls: oneCall * uint64(n)}
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

// run is some neighbouring bins.
type run struct {
	from, to      int
	weight, calls uint64
}

// findFlush returns the weight of the requests whose times are those of a flush, as it
// seems, and a bit for each 20 ms in which they are; zero where that is little of all.
func (b *Bins) findFlush() (weight, at uint64) {
	rest := b.weight
	var all uint64
	for _, w := range rest {
		all += w
	}
	var found [batches]run
	beside := rest // what is in no batch
	for i := range found {
		r := b.fullest(&rest)
		if r.weight == 0 { // nothing is left
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

// fullest returns the bins around the fullest one that are not far from as full.
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

// usedMean returns the mean weight of the bins that have any.
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

// Add counts requests of a table, made at m. caller is a hash of theirs, 0 where it is
// not known.
func (t *Times) Add(table uint16, caller uint64, requests int64, m Moment) {
	if m.calls == 0 {
		return
	}
	s := t.last // most records are of the producer of the one before
	if s == nil || s.caller != caller || s.table != table {
		if s = t.slot(table, caller); s == nil {
			return
		}
		t.last = s
	}
	s.Bins.Add(m, uint64(requests))
}

// slot returns a producer's, nil when there is no room for another.
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

// Clear forgets everything, keeping the memory.
func (t *Times) Clear() {
	for _, at := range t.used {
		t.slots[at].live = false
	}
	t.used, t.last = t.used[:0], nil
}
