// Package arrival tells whether the times of a second's records are those of
// requests, or of the moment at which a producer flushed what it had gathered.
//
// Times are counted by producer, which is the caller where it is known and the
// table where it is not, in bins of 20 ms. A burst of 20 ms looks like a flush:
// whoever judges a heaped second knows how long nothing came before it.
package arrival

import (
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
	// heapedShare of a producer's calls in two neighbouring bins are a heap, of
	// heapedCalls calls or more. Poisson arrivals, bursts of a tenth of a second and
	// batches never came near, simulated over 1,120 hours; a flush is all of it.
	heapedShare = 0.6
	heapedCalls = 10
	// A batch whose call is unknown counts by the most items that a call has, 25
	// written or 100 read, in hundredths of a call.
	oneCall, itemWritten, itemRead = 100, 4, 1
)

// Times are the times of one second's records. The zero value is ready.
type Times struct {
	slots []slot
	used  []uint16
	last  *slot
}

type slot struct {
	caller   uint64
	call     uint64 // the last one
	requests int64
	calls    uint64 // in hundredths, as bins are
	bins     [bins]uint32
	table    uint16
	live     bool
}

// Add counts a record of a table. What says how many calls it came from is left
// out: its n requests are within the second by contract, and the middleware that
// writes such records folds their times to the second. So are changes, whose times
// have no parts of a second.
func (t *Times) Add(table uint16, r *sample.Record) {
	if r.Calls != 0 || r.Change {
		return
	}
	caller := uint64(table)
	if r.Caller != "" {
		caller = xxh3.HashStringSeed(r.Caller, caller)
	}
	s := t.last // most records are of the producer of the one before
	if s == nil || s.caller != caller || s.table != table {
		if s = t.slot(table, caller); s == nil {
			return
		}
		t.last = s
	}
	s.requests += r.N
	calls := s.count(r)
	s.calls += calls
	ms := r.Time % 10_000
	if ms < 0 {
		ms += 10_000
	}
	// Times in whole seconds are rounded, not heaped, unless they are in whole tens
	// of seconds or minutes.
	if ms == 0 || ms%1000 != 0 {
		bin := &s.bins[ms%1000/binMillis]
		*bin = uint32(min(uint64(*bin)+calls, 1<<30))
	}
}

// count returns how many calls a record stands for, in hundredths.
func (s *slot) count(r *sample.Record) uint64 {
	if r.Call != "" {
		call := xxh3.HashString(r.Call)
		if call == s.call {
			return 0
		}
		s.call = call
		return oneCall
	}
	each := uint64(oneCall)
	if r.Op.TakesMany() {
		each = itemWritten
		if r.Op.IsRead() {
			each = itemRead
		}
	}
	return uint64(r.N) * each
}

// slot returns a producer's, nil when there is no room for another.
func (t *Times) slot(table uint16, caller uint64) *slot {
	if t.slots == nil {
		t.slots = make([]slot, producers)
	}
	for i := range uint64(probes) {
		at := (caller + i) % producers
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

// Heaped returns how many of a table's requests have the times of a flush.
func (t *Times) Heaped(table uint16) (requests int64) {
	for _, at := range t.used {
		if s := &t.slots[at]; s.table == table && s.heaped() {
			requests += s.requests
		}
	}
	return requests
}

func (s *slot) heaped() bool {
	if s.calls < heapedCalls*oneCall {
		return false
	}
	var most uint64
	for i := range bins - 1 {
		most = max(most, uint64(s.bins[i])+uint64(s.bins[i+1]))
	}
	return float64(most) >= heapedShare*float64(s.calls)
}

// Clear forgets everything, keeping the memory.
func (t *Times) Clear() {
	for _, at := range t.used {
		t.slots[at].live = false
	}
	t.used, t.last = t.used[:0], nil
}
