package sketch

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/front"
)

const (
	// crowdedWeight is the weight of a set's smallest key from which the set is crowded: at
	// 200,000 requests a second of the trace one set in 2,000 is.
	crowdedWeight = WarmWeight
	// reserveFrom is the weight of a table from which it may have a reserve: a key at a limit
	// has that over 600 collectors.
	reserveFrom = WarmWeight / 64
	// reserveSets times Ways is how many keys a table's reserve holds, and maxReserves how
	// many tables of a second have one: 2 KiB each, half of what the front has at most.
	reserveSets, maxReserves = 2, 256
)

// reserve returns the set of the table's reserve for a key, nil if the table has none, and
// the set's number. A key of a table that its set has no room for competes there with keys
// of the same table alone, so that no flood of other tables' keys puts it out. Tables get
// reserves when a set is crowded, unless they are alone or have next to no load.
func (s *second) reserve(t *sums, hash uint64) (in *front.Set, number uint32) {
	if t.reserve == 0 {
		if len(s.touched) == 1 || s.reserves == maxReserves || t.weight() < reserveFrom {
			return nil, 0
		}
		if s.inherited == nil {
			s.inherited = make([][Ways]uint64, reserveSets*maxReserves)
		}
		s.reserves++
		t.reserve = s.reserves
	}
	number = uint32(t.reserve-1)*reserveSets + uint32(hash>>24)%reserveSets // bits that nothing else uses
	return s.front.reserveSet(number), number
}

// findReserved returns the candidate of a key in its table's reserve, nil when it has none.
func (s *second) findReserved(t *sums, hash uint64) *candidate {
	if in, _ := s.reserve(t, hash); in != nil {
		return s.front.find(in, hash)
	}
	return nil
}

// admitReserved makes a key the candidate of a place in its table's reserve, as Space-Saving
// does: in place of the key with the least weight, and with that weight on top of its own.
// It returns nil if the table has no reserve.
func (s *second) admitReserved(t *sums, table uint16, hash uint64, key sample.Key, err uint64) *candidate {
	in, number := s.reserve(t, hash)
	if in == nil {
		return nil
	}
	inherited := &s.inherited[number]
	place, least := int(in.Keys), uint64(0)
	switch {
	case in.Keys == 0:
		s.front.used = append(s.front.used, uint32(s.front.mask)+1+number)
	case in.Keys == Ways:
		all := s.front.candidates[in.First:][:Ways]
		for i := range all {
			if weight := inherited[i] + all[i].load.weight(); i == 0 || weight < least {
				place, least = i, weight
			}
		}
		out := &all[place]
		s.putOut(s.front.set(out.hash), out.hash, out.high())
	}
	inherited[place] = least
	return s.front.put(in, place, table, hash, key, err)
}

// putOut counts a key that is a candidate no longer; high is its upper bound.
func (s *second) putOut(in *front.Set, hash, high uint64) {
	s.counts.Line(hash).Raise(hash, high)
	in.Turned = max(in.Turned, high)
}

// moveToReserve moves a candidate to its table's reserve, and reports whether there is one.
func (s *second) moveToReserve(at int) bool {
	f := &s.front
	c := f.candidates[at]
	key := sample.Key{Type: f.texts.Type(c.text), Text: string(f.texts.Bytes(at, c.text))}
	to := s.admitReserved(&s.sums[c.table], c.table, c.hash, key, c.err)
	if to == nil {
		return false
	}
	to.load, to.requests, to.gather, to.resends, to.whole = c.load, c.requests, c.gather, c.resends, c.whole
	to.detail, f.candidates[at].detail = c.detail, to.detail
	return true
}
