package sketch

import (
	"math/bits"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/front"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

// candidate is a key of the front: exact since it was admitted. It is one cache line, and
// has no pointer, so that the garbage collector passes it by.
type candidate struct {
	hash     uint64
	load     Load
	requests int64
	err      uint64 // the most weight it can have had before
	text     front.KeyText
	detail   uint32 // where in front.details its own are, 0 for nowhere
	table    uint16
	gather   int16 // where its evidence is gathered, -1 for nowhere
	resends  int16 // where its retries are added up, below 0 for nowhere
	whole    bool  // some requests were neither sampled nor estimated: its draws do not have them
}

// detail is what only requests add to that were sampled, estimated or throttled.
type detail struct {
	read      Spread
	write     Spread
	draws     Draws
	throttled Load
	calls     int32 // where its last calls are
}

// high returns the upper bound of the candidate's weight.
func (c *candidate) high() uint64 {
	if high := c.load.weight() + c.err; high >= c.err {
		return high
	}
	return front.Unlimited // as is its sum with whatever else
}

// exceeds reports whether the key is over a limit for certain.
func (c *candidate) exceeds(limit Load, d *detail) bool {
	return provenAbove(c.load.Write, limit.Write, d.write.Variance) || provenAbove(c.load.Read, limit.Read, d.read.Variance)
}

// doubt is how many standard deviations a sampled load has to be above a limit: with
// fewer than one in a million it is below. The bound of package sampling, for the
// judge, is closer and takes longer.
const doubt = 5

func provenAbove(low, limit sample.Milli, variance float64) bool {
	if low <= limit {
		return false
	}
	above := float64(low-limit) / 1000
	return above*above > doubt*doubt*variance
}

// candidateTable is the set-associative table of candidates of one second. It takes memory for
// what is used.
type candidateTable struct {
	mask uint64
	sets []front.Set // nil until begin; the last ones are the reserves of tables
	// used are the sets that have keys, in the order in which they came. Each has Ways
	// candidates, with their texts.
	used       []uint32
	candidates []candidate
	texts      front.KeyTexts
	details    []detail // of some candidates; the first is nobody's
}

func newCandidateTable(sets int) candidateTable {
	return candidateTable{mask: uint64(sets - 1), texts: front.NewKeyTexts(), details: make([]detail, 1)}
}

// begin makes ready for keys.
func (f *candidateTable) begin() {
	if f.sets == nil {
		f.sets = make([]front.Set, f.mask+1+reserveSets*maxReserves)
	}
}

// set returns the set of a hash, by bits that the count-min sketch's line does not use.
func (f *candidateTable) set(hash uint64) *front.Set { return &f.sets[hash>>32&f.mask] }

// reserveSet returns a set of a reserve.
func (f *candidateTable) reserveSet(number uint32) *front.Set {
	return &f.sets[f.mask+1+uint64(number)]
}

// find returns the candidate of a key, nil when it has none.
func (f *candidateTable) find(s *front.Set, hash uint64) *candidate {
	for places := s.Match(hash); places != 0; places &= places - 1 {
		if c := &f.candidates[int(s.First)+bits.TrailingZeros64(places)/8]; c.hash == hash {
			return c
		}
	}
	return nil
}

// smallest returns the place of a full set's candidate with the smallest upper bound,
// that bound, and the smallest of the others.
func (f *candidateTable) smallest(s *front.Set) (place int, high, next uint64) {
	high, next = front.Unlimited, front.Unlimited
	all := f.candidates[s.First:][:Ways]
	for i := range all {
		h := all[i].high()
		if h < high {
			place = i
		}
		next = min(next, max(high, h))
		high = min(high, h)
	}
	return place, high, next
}

// open gives a set that has no key yet its candidates.
func (f *candidateTable) open(s *front.Set) {
	n := len(f.candidates)
	if n+Ways > cap(f.candidates) {
		f.candidates = append(f.candidates, make([]candidate, Ways)...)
	} else {
		f.candidates = f.candidates[:n+Ways]
		clear(f.candidates[n:])
	}
	s.First = uint32(n)
}

// put makes the key the candidate of a place; err is the most it had before.
func (f *candidateTable) put(s *front.Set, place int, table uint16, hash uint64, key sample.Key, err uint64) *candidate {
	if s.Keys == 0 {
		f.open(s)
	}
	if place == int(s.Keys) {
		s.Keys++
	}
	at := int(s.First) + place
	c := &f.candidates[at]
	// Field by field: what is made elsewhere and copied waits for its own stores.
	c.text = f.texts.Put(at, c.text, key)
	c.hash, c.load, c.requests, c.err = hash, Load{}, 0, err
	c.table, c.gather, c.resends, c.whole = table, -1, gather.RetriesNowhere, false
	if c.detail > 0 {
		f.details[c.detail] = detail{calls: gather.CallsNowhere}
	}
	s.Put(place, hash)
	return c
}

// detailOf returns the details of a candidate.
func (f *candidateTable) detailOf(c *candidate) *detail { return &f.details[c.detail] }

// ownDetail returns the details of a candidate, to add to.
func (f *candidateTable) ownDetail(c *candidate) *detail {
	if c.detail == 0 {
		c.detail = uint32(len(f.details))
		f.details = append(f.details, detail{calls: gather.CallsNowhere})
	}
	return &f.details[c.detail]
}

// worst returns the largest weight that any key outside the front can have had.
func (f *candidateTable) worst() uint64 {
	var worst uint64
	for _, at := range f.used {
		worst = max(worst, f.sets[at].Turned)
	}
	return worst
}

// clear forgets everything, keeping the memory.
func (f *candidateTable) clear() {
	for _, at := range f.used {
		f.sets[at] = front.Set{}
	}
	f.used, f.candidates, f.details = f.used[:0], f.candidates[:0], f.details[:1]
	f.texts.Clear()
}

// release gives the memory back.
func (f *candidateTable) release() { *f = newCandidateTable(int(f.mask) + 1) }
