package sketch

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/countmin"
)

// candidate is a key of the front: exact since it was admitted.
type candidate struct {
	load      Load
	throttled Load
	requests  int64
	read      Spread
	write     Spread
	draws     Draws
	err       uint64 // the most weight it can have had before
	table     uint16
	gather    int16 // where its evidence is gathered, -1 for nowhere
	resends   int16 // where its retries are added up, below 0 for nowhere
	calls     int32 // where its last calls are
	keyType   string
	key       []byte // reused by the place's next candidate
}

// high returns the upper bound of the candidate's weight.
func (c *candidate) high() uint64 {
	if c.err == countmin.Unlimited {
		return countmin.Unlimited
	}
	return c.load.weight() + c.err
}

// exceeds reports whether the key is over a limit for certain.
func (c *candidate) exceeds(limit Load) bool {
	return provenAbove(c.load.Write, limit.Write, c.write.Variance) || provenAbove(c.load.Read, limit.Read, c.read.Variance)
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

// set is the searched part of one set of the front, a cache line. A zero hash
// is an empty place; the hash of a key is never zero.
type set struct {
	hash [Ways]uint64
	// turned is the largest weight that a key outside the set can have had;
	// zero as long as every key of the set found a place.
	turned uint64
}

// front is the set-associative table of candidates of one second.
type front struct {
	sets       []set
	candidates []candidate // Ways a set
}

func newFront(sets int) front {
	return front{sets: make([]set, sets), candidates: make([]candidate, sets*Ways)}
}

// setOf picks the set by bits that the count-min sketch's line does not use.
func (f *front) setOf(hash uint64) int { return int(hash >> 32 & uint64(len(f.sets)-1)) }

// find returns the place of a key, or -1, and the first empty place, or -1.
func (f *front) find(s int, hash uint64) (place, empty int) {
	hashes := &f.sets[s].hash
	for i := range hashes {
		if hashes[i] == hash {
			return s*Ways + i, -1
		}
		if hashes[i] == 0 {
			return -1, s*Ways + i
		}
	}
	return -1, -1
}

// smallest returns the place of a full set's candidate with the smallest upper
// bound, and that bound.
func (f *front) smallest(s int) (place int, high uint64) {
	place, high = s*Ways, f.candidates[s*Ways].high()
	for i := s*Ways + 1; i < (s+1)*Ways; i++ {
		if h := f.candidates[i].high(); h < high {
			place, high = i, h
		}
	}
	return place, high
}

// worst returns the largest weight that any key outside the front can have had.
func (f *front) worst() uint64 {
	var worst uint64
	for i := range f.sets {
		worst = max(worst, f.sets[i].turned)
	}
	return worst
}

func (f *front) clear() { clear(f.sets) }
