package gather

import (
	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
)

// CallSize returns how many of a record's requests were drawn at once. Where a
// record does not say, it may have been folded first and drawn then.
func CallSize(r *sample.Record) float64 {
	if r.Calls > 0 {
		return float64(r.N) / r.Calls
	}
	return float64(r.N)
}

// CallID returns which call a sampled record is of, where its size on the key is not
// known. A batch that does not name itself is told by time, caller and operation:
// two in one millisecond are taken for one, which errs to the wide side.
func CallID(r *sample.Record) (id uint64, known bool) {
	switch {
	case r.Calls > 0:
		return 0, false
	case r.Call != "":
		return xxh3.HashString(r.Call), true
	case r.Op.TakesMany():
		return xxh3.HashStringSeed(r.Caller, uint64(r.Time)<<8|uint64(r.Op)), true
	}
	return 0, false
}

// Call is what one call had on a key so far, in units.
type Call struct {
	id          uint64
	known       bool
	Read, Write float64
}

// lastCalls are the last few calls with items on a key, by which its records are
// added up: collectors read the items of a call one after another.
type lastCalls struct {
	calls [4]Call
	next  int
}

func (l *lastCalls) find(id uint64) *Call {
	for i := range l.calls {
		if c := &l.calls[i]; c.known && c.id == id {
			return c
		}
	}
	c := &l.calls[l.next]
	l.next = (l.next + 1) % len(l.calls)
	*c = Call{id: id, known: true}
	return c
}

// CallsNowhere is the place of a key that has none in a Pool.
const CallsNowhere int32 = -1

// CallPool is where the last calls of the keys of one second are kept, whose records name
// their call. Its memory is used again for the next second.
type CallPool struct {
	kept []*lastCalls
	used int
}

// Find returns a call of the key that is kept at a place, and that place: a new one
// for Nowhere.
func (p *CallPool) Find(at int32, id uint64) (*Call, int32) {
	if at == CallsNowhere {
		if p.used == len(p.kept) {
			p.kept = append(p.kept, &lastCalls{})
		}
		at = int32(p.used)
		*p.kept[at] = lastCalls{}
		p.used++
	}
	return p.kept[at].find(id), at
}

// Clear forgets all calls, keeping the memory.
func (p *CallPool) Clear() { p.used = 0 }
