// Package set is a set of a set-associative table, as two cache lines.
package set

import (
	"math/bits"

	"github.com/keyheat/keyheat/sketch/internal/countmin"
)

// Ways is how many keys a set has room for: their hashes fill one cache line beside the
// set's bound.
const Ways = 7

// Set is one set: a cache line that is searched, and one that decides who
// is put out. A zero hash is an empty place; the hash of a key is never zero.
type Set struct {
	Hash [Ways]uint64
	// Turned is the largest weight that a key outside the set can have had;
	// zero as long as every key of the set found a place.
	Turned uint64
	// High are the upper bounds of the candidates.
	High [Ways]uint64
	// First is where the set's candidates begin, once it has one; Keys how many it has.
	First, Keys uint32
}

// Find returns the place of a key in the set, or Ways. It has no branch that depends on
// the place, which nothing could predict.
func (s *Set) Find(hash uint64) int {
	h := &s.Hash
	return bits.TrailingZeros8(is(h[0] == hash) | is(h[1] == hash)<<1 | is(h[2] == hash)<<2 | is(h[3] == hash)<<3 |
		is(h[4] == hash)<<4 | is(h[5] == hash)<<5 | is(h[6] == hash)<<6 | 1<<Ways)
}

func is(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// Smallest returns the place of a full set's candidate with the smallest upper
// bound, and that bound.
func (s *Set) Smallest() (place int, high uint64) {
	high = s.High[0]
	for i := 1; i < Ways; i++ {
		h := s.High[i]
		if h < high {
			place = i
		}
		high = min(high, h)
	}
	return place, high
}

// Raise adds a weight to the upper bound of a candidate.
func (s *Set) Raise(place int, weight uint64) {
	if s.High[place] != countmin.Unlimited {
		s.High[place] += weight
	}
}
