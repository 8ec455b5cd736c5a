package sketch

import (
	"math/bits"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/calls"
	"github.com/keyheat/keyheat/sketch/internal/countmin"
	"github.com/keyheat/keyheat/sketch/internal/resend"
)

// inlineText is how many bytes of a key lie beside its candidate. Longer ones are elsewhere.
const inlineText = 48

// candidate is a key of the front: exact since it was admitted. It is one cache line, and
// has no pointer, so that the garbage collector passes it by.
type candidate struct {
	load     Load
	requests int64
	err      uint64 // the most weight it can have had before
	calls    int32  // where its last calls are
	length   uint32 // of its text
	long     uint32 // where in front.long its text is when it is not inline, 0 for nowhere yet
	detail   uint32 // where in front.details its own are, 0 for nowhere
	keyType  uint32 // in front.types
	table    uint16
	gather   int16 // where its evidence is gathered, -1 for nowhere
	resends  int16 // where its retries are added up, below 0 for nowhere
	whole    bool  // some requests were neither sampled nor estimated: its draws do not have them
	_        [5]byte
}

// detail is what only requests add to that were sampled, estimated or throttled.
type detail struct {
	read      Spread
	write     Spread
	draws     Draws
	throttled Load
}

// high returns the upper bound of the candidate's weight.
func (c *candidate) high() uint64 {
	if c.err == countmin.Unlimited {
		return countmin.Unlimited
	}
	return c.load.weight() + c.err
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

// set is one set of the front: a cache line that is searched, and one that decides who
// is put out. A zero hash is an empty place; the hash of a key is never zero.
type set struct {
	hash [Ways]uint64
	// turned is the largest weight that a key outside the set can have had;
	// zero as long as every key of the set found a place.
	turned uint64
	// high is what candidate.high returns.
	high [Ways]uint64
	// first is where the set's candidates begin, once it has one; keys how many it has.
	first, keys uint32
}

// find returns the place of a key in the set, or Ways. It has no branch that depends on
// the place, which nothing could predict.
func (s *set) find(hash uint64) int {
	h := &s.hash
	return bits.TrailingZeros8(is(h[0] == hash) | is(h[1] == hash)<<1 | is(h[2] == hash)<<2 | is(h[3] == hash)<<3 |
		is(h[4] == hash)<<4 | is(h[5] == hash)<<5 | is(h[6] == hash)<<6 | 1<<Ways)
}

func is(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// smallest returns the place of a full set's candidate with the smallest upper
// bound, and that bound.
func (s *set) smallest() (place int, high uint64) {
	high = s.high[0]
	for i := 1; i < Ways; i++ {
		h := s.high[i]
		if h < high {
			place = i
		}
		high = min(high, h)
	}
	return place, high
}

// raise adds a weight to the upper bound of a candidate.
func (s *set) raise(place int, weight uint64) {
	if s.high[place] != countmin.Unlimited {
		s.high[place] += weight
	}
}

// front is the set-associative table of candidates of one second. It takes memory for
// what is used.
type front struct {
	mask uint64
	sets []set // nil until a key comes
	// used are the sets that have keys, in the order in which they came. Each has Ways
	// candidates, with their texts.
	used       []uint32
	candidates []candidate
	texts      [][inlineText]byte
	// details and long are what few candidates have: the first of each is nobody's. types
	// are the key types.
	details []detail
	long    [][]byte
	longs   int // how many of long are in use
	types   []string
}

func newFront(sets int) front {
	return front{mask: uint64(sets - 1), types: []string{sample.TypeString}, details: make([]detail, 1), longs: 1}
}

// set returns the set of a hash, by bits that the count-min sketch's line does not use.
func (f *front) set(hash uint64) *set {
	if f.sets == nil {
		f.sets = make([]set, f.mask+1)
	}
	return &f.sets[hash>>32&f.mask]
}

// open gives a set that has no key yet its candidates.
func (f *front) open(s *set, hash uint64) {
	n := len(f.candidates)
	if n+Ways > cap(f.candidates) {
		f.candidates = append(f.candidates, make([]candidate, Ways)...)
		f.texts = append(f.texts, make([][inlineText]byte, cap(f.candidates)-len(f.texts))...)
	} else {
		f.candidates = f.candidates[:n+Ways]
		clear(f.candidates[n:])
	}
	s.first = uint32(n)
	f.used = append(f.used, uint32(hash>>32&f.mask))
}

// put makes the key the candidate of a place; err is the most it had before.
func (f *front) put(s *set, place int, table uint16, hash uint64, key sample.Key, err uint64) *candidate {
	if s.keys == 0 {
		f.open(s, hash)
	}
	if place == int(s.keys) {
		s.keys++
	}
	at := int(s.first) + place
	c := &f.candidates[at]
	*c = candidate{
		table: table, err: err, gather: -1, resends: resend.Nowhere, calls: calls.Nowhere,
		keyType: f.keyType(key.Type), length: uint32(len(key.Text)), long: c.long, detail: c.detail,
	}
	if c.detail > 0 {
		f.details[c.detail] = detail{}
	}
	if len(key.Text) <= inlineText {
		copy(f.texts[at][:], key.Text)
	} else {
		f.keepLong(c, key.Text)
	}
	s.hash[place], s.high[place] = hash, err
	return c
}

// detailOf returns the details of a candidate.
func (f *front) detailOf(c *candidate) *detail { return &f.details[c.detail] }

// ownDetail returns the details of a candidate, to add to.
func (f *front) ownDetail(c *candidate) *detail {
	if c.detail == 0 {
		c.detail = uint32(len(f.details))
		f.details = append(f.details, detail{})
	}
	return &f.details[c.detail]
}

// keepLong keeps a text that is not inline.
func (f *front) keepLong(c *candidate, text string) {
	if c.long == 0 {
		for f.longs >= len(f.long) {
			f.long = append(f.long, nil)
		}
		c.long = uint32(f.longs)
		f.longs++
	}
	f.long[c.long] = append(f.long[c.long][:0], text...)
}

// textOf returns the text of the candidate at a place, which changes with it.
func (f *front) textOf(at uint32) []byte {
	if c := &f.candidates[at]; c.length > inlineText {
		return f.long[c.long]
	}
	return f.texts[at][:f.candidates[at].length]
}

// keyType returns the number of a type: there are at most 3+9+27+81.
func (f *front) keyType(t string) uint32 {
	for i, known := range f.types {
		if known == t {
			return uint32(i)
		}
	}
	f.types = append(f.types, keyType([]byte(t))) // a record's strings live only as long as its message
	return uint32(len(f.types) - 1)
}

// worst returns the largest weight that any key outside the front can have had.
func (f *front) worst() uint64 {
	var worst uint64
	for _, at := range f.used {
		worst = max(worst, f.sets[at].turned)
	}
	return worst
}

// clear forgets everything, keeping the memory.
func (f *front) clear() {
	for _, at := range f.used {
		f.sets[at] = set{}
	}
	f.used, f.candidates, f.details, f.longs = f.used[:0], f.candidates[:0], f.details[:1], 1
}

// release gives the memory back.
func (f *front) release() { *f = newFront(int(f.mask) + 1) }
