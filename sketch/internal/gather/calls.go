package gather

import (
	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
)

// CallSize returns how many of a record's requests were drawn at once. A record without a
// number of calls may have been folded before it was sampled, so all of its requests count.
func CallSize(r *sample.Record) float64 {
	if r.Calls > 0 {
		return float64(r.N) / r.Calls
	}
	return float64(r.N)
}

// CallID returns the hash of a sampled record's call, if the call's size on the key is unknown.
// A batch without a call name is identified by time, caller and operation. Two such batches in
// one millisecond count as one, which widens the bound.
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

// Call is the load of one call on a key so far, in units.
type Call struct {
	id          uint64
	known       bool
	Read, Write float64
}

// lastCalls are the last few calls with items on a key. Collectors read the items of one call
// in a row, so few are enough.
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

// CallsNowhere is the place of a key without calls in a CallPool.
const CallsNowhere int32 = -1

// CallPool keeps the last calls of the keys of one second, for records that name their call. It
// reuses its memory for the next second.
type CallPool struct {
	kept []*lastCalls
	used int
}

// Find returns a call of the key at a place, and the place. For CallsNowhere it assigns a new
// place.
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

// Clear forgets all calls and keeps the memory.
func (p *CallPool) Clear() { p.used = 0 }
