package sketch

import (
	"math/bits"
	"unsafe"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/front"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

// candidate is a key of the front, with exact counts since its admission. It fits one cache
// line and holds no pointer, so the garbage collector skips it.
type candidate struct {
	hash     uint64
	load     Load
	requests int64
	err      uint64 // the most weight that the key can have had before its admission
	text     front.KeyText
	detail   uint32 // index into candidateTable.details, 0 for none
	table    uint16
	gather   int16 // index into second.gathers, -1 for none
	resends  int16 // the key's place in second.resends, below 0 for none
	whole    bool  // some requests were neither sampled nor estimated, so draws does not count them
}

// detail holds the sums that only sampled, estimated or throttled requests add to.
type detail struct {
	read      Spread
	write     Spread
	draws     Draws
	throttled Load
	calls     int32 // the key's place in second.calls
	place     sample.Place
}

// high returns the upper bound of the candidate's weight.
func (c *candidate) high() uint64 {
	if high := c.load.weight() + c.err; high >= c.err {
		return high
	}
	return front.Unlimited // no further load can raise it
}

// exceeds reports whether the key is over a limit for certain.
func (c *candidate) exceeds(limit Load, d *detail) bool {
	return provenAbove(c.load.Write, limit.Write, d.write.Variance) || provenAbove(c.load.Read, limit.Read, d.read.Variance)
}

// doubt is the number of standard deviations by which a sampled load must exceed a limit. Fewer
// than one key in a million passes it below the limit. The judge uses the closer but slower
// bound of package sampling.
const doubt = 5

func provenAbove(low, limit sample.Milli, variance float64) bool {
	if low <= limit {
		return false
	}
	above := float64(low-limit) / 1000
	return above*above > doubt*doubt*variance
}

// candidateTable is the set-associative table of the candidates of one second. It allocates
// memory as keys come.
type candidateTable struct {
	mask     uint64
	reserves int         // the tables that may have a reserve
	sets     []front.Set // nil until begin; the tables' reserves come last
	// used lists the sets that have keys, in order of their first key. Each set has Ways
	// candidates with their texts.
	used       []uint32
	candidates []candidate
	texts      front.KeyTexts
	details    []detail // of some candidates; index 0 stands for none
}

func newCandidateTable(sets, reserves int) candidateTable {
	return candidateTable{mask: uint64(sets - 1), reserves: reserves, texts: front.NewKeyTexts(), details: make([]detail, 1)}
}

func (f *candidateTable) begin() {
	if f.sets == nil {
		f.sets = make([]front.Set, int(f.mask)+1+reserveSets*f.reserves)
	}
}

// set returns the set of a hash. It uses bits that do not choose the line of counters.
func (f *candidateTable) set(hash uint64) *front.Set { return &f.sets[hash>>32&f.mask] }

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

// smallest returns the candidate of a full set with the smallest upper bound, as its place,
// that bound, and the smallest bound of the other candidates.
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

// open gives candidates to a set that has no key yet.
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

// put makes the key a candidate at a place. err is the most weight that the key had before.
func (f *candidateTable) put(s *front.Set, place int, table uint16, hash uint64, key sample.Key, err uint64) *candidate {
	if s.Keys == 0 {
		f.open(s)
	}
	if place == int(s.Keys) {
		s.Keys++
	}
	at := int(s.First) + place
	c := &f.candidates[at]
	// Assign field by field: copying a whole struct would wait for its own stores.
	c.text = f.texts.Put(at, c.text, key)
	c.hash, c.load, c.requests, c.err = hash, Load{}, 0, err
	c.table, c.gather, c.resends, c.whole = table, -1, gather.RetriesNowhere, false
	if c.detail > 0 {
		f.details[c.detail] = detail{calls: gather.CallsNowhere}
	}
	s.Put(place, hash)
	return c
}

// keyAt returns the key at a place. Its text is no copy: it is valid until another key comes to
// the place.
func (f *candidateTable) keyAt(at int) sample.Key {
	text := f.candidates[at].text
	bytes := f.texts.Bytes(at, text)
	return sample.Key{Type: f.texts.Type(text), Text: unsafe.String(unsafe.SliceData(bytes), len(bytes))} //nolint:gosec // see above
}

// detailOf returns the details of a candidate.
func (f *candidateTable) detailOf(c *candidate) *detail { return &f.details[c.detail] }

// ownDetail returns the candidate's details for writing, and allocates them if needed.
func (f *candidateTable) ownDetail(c *candidate) *detail {
	if c.detail == 0 {
		c.detail = uint32(len(f.details))
		f.details = append(f.details, detail{calls: gather.CallsNowhere})
	}
	return &f.details[c.detail]
}

// worst returns the largest weight that any key outside the front can have.
func (f *candidateTable) worst() uint64 {
	var worst uint64
	for _, at := range f.used {
		worst = max(worst, f.sets[at].Turned)
	}
	return worst
}

func (f *candidateTable) clear() {
	for _, at := range f.used {
		f.sets[at] = front.Set{}
	}
	f.used, f.candidates, f.details = f.used[:0], f.candidates[:0], f.details[:1]
	f.texts.Clear()
}

func (f *candidateTable) release() { *f = newCandidateTable(int(f.mask)+1, f.reserves) }
