package sketch

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/front"
)

const (
	// crowdedWeight is the weight of a set's smallest key from which the set is crowded. On the
	// trace at 200,000 requests a second, one set in 2,000 is crowded.
	crowdedWeight = WarmWeight
	// reserveFrom is the weight of a table from which it may have a reserve. A key at a limit
	// has this weight even when spread over 600 collectors.
	reserveFrom = WarmWeight / 64
	// reserveSets times Ways is the number of keys in a table's reserve, which takes 2 KiB.
	// Every table that a shard keeps apart may have one.
	reserveSets = 2
)

// reserve returns a key's set in its table's reserve and the set's number, or nil if the table
// has no reserve. In a reserve, a key competes only with keys of its own table, so a flood of
// other tables' keys cannot evict it. A table gets a reserve when a set is crowded, unless it
// is the only table or has little load.
func (s *second) reserve(t *sums, hash uint64) (in *front.Set, number uint32) {
	if t.reserve == 0 {
		if len(s.touched) == 1 || t.weight() < reserveFrom {
			return nil, 0
		}
		if s.inherited == nil {
			s.inherited = make([][Ways]uint64, reserveSets*s.front.reserves)
		}
		s.reserves++
		t.reserve = s.reserves
	}
	number = uint32(t.reserve-1)*reserveSets + uint32(hash>>24)%reserveSets // bits with no other use
	return s.front.reserveSet(number), number
}

// findReserved returns the candidate of a key in its table's reserve, or nil.
func (s *second) findReserved(t *sums, hash uint64) *candidate {
	if in, _ := s.reserve(t, hash); in != nil {
		return s.front.find(in, hash)
	}
	return nil
}

// admitReserved admits a key to its table's reserve by Space-Saving: the key replaces the key
// with the least weight and inherits that weight. It returns nil if the table has no reserve.
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
		s.putOut(s.front.set(out.hash), int(in.First)+place, out.high())
	}
	inherited[place] = least
	return s.front.put(in, place, table, hash, key, err)
}

// putOut counts the key of a candidate that is evicted. high is the key's upper bound.
func (s *second) putOut(in *front.Set, at int, high uint64) {
	c := &s.front.candidates[at]
	s.counts.Line(c.hash).Raise(c.hash, high)
	in.Turned = max(in.Turned, high)
	if t := &s.sums[c.table]; s.isPlaced != nil && s.hasCells(t, c.table) {
		s.cells.Add(t.cells, s.front.keyAt(at), s.front.detailOf(c).place, c.load.Read, c.load.Write)
	}
}

// moveToReserve moves a candidate to its table's reserve. It returns false if the table has
// none.
func (s *second) moveToReserve(at int) bool {
	f := &s.front
	c := f.candidates[at]
	to := s.admitReserved(&s.sums[c.table], c.table, c.hash, f.keyAt(at), c.err)
	if to == nil {
		return false
	}
	to.load, to.requests, to.gather, to.resends, to.whole = c.load, c.requests, c.gather, c.resends, c.whole
	to.detail, f.candidates[at].detail = c.detail, to.detail
	return true
}
