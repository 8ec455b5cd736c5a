package front

import (
	"math"
	"math/bits"
)

// Unlimited stands for an amount that a full counter can no longer hold.
const Unlimited = math.MaxUint64

// countersPerLine is how many counters one cache line has.
const countersPerLine = 16

// CountMin is a blocked count-min sketch with conservative update. A key's four counters lie in
// one cache line, one in each quarter. Alone, such a sketch errs widely, because a cold key can
// share all four counters with a hot one. Behind the front it holds only keys that are not hot.
type CountMin struct {
	lines []CounterLine // nil until the first count
	mask  uint64
	// used has a bit for each line that is not all zero, so that Clear costs no more than the
	// counting did.
	used []uint64
}

// CounterLine is one cache line of counters.
type CounterLine [countersPerLine]uint32

// NewCountMin returns an empty sketch of a size in bytes, a power of two from 4,096. It
// allocates with the first count.
func NewCountMin(bytes int) CountMin {
	return CountMin{mask: uint64(bytes/(4*countersPerLine) - 1)}
}

// cells returns the places of a key's counters in its line.
func cells(hash uint64) (a, b, c, d uint64) {
	return hash >> 56 & 3, 4 + hash>>58&3, 8 + hash>>60&3, 12 + hash>>62&3
}

// Line returns the line of counters of a hash, for reading and raising.
func (s *CountMin) Line(hash uint64) *CounterLine {
	if s.lines == nil {
		s.lines, s.used = make([]CounterLine, s.mask+1), make([]uint64, (s.mask+1)/64)
	}
	at := hash & s.mask
	s.used[at/64] |= 1 << (at % 64)
	return &s.lines[at]
}

// Estimate returns an upper bound of the weight added under the hash. The hash must belong to
// the line.
func (l *CounterLine) Estimate(hash uint64) uint64 {
	a, b, c, d := cells(hash)
	least := min(l[a], l[b], l[c], l[d])
	if least == math.MaxUint32 {
		return Unlimited
	}
	return uint64(least)
}

// Raise lifts the key's counters to at least weight: the conservative update.
func (l *CounterLine) Raise(hash, weight uint64) {
	value := uint32(min(weight, math.MaxUint32))
	a, b, c, d := cells(hash)
	l[a], l[b], l[c], l[d] = max(l[a], value), max(l[b], value), max(l[c], value), max(l[d], value)
}

// Clear sets all counters to zero and keeps the memory.
func (s *CountMin) Clear() {
	for i, marks := range s.used {
		for ; marks != 0; marks &= marks - 1 {
			s.lines[i*64+bits.TrailingZeros64(marks)] = CounterLine{}
		}
		s.used[i] = 0
	}
}

// Release frees the memory and forgets all counts.
func (s *CountMin) Release() { s.lines, s.used = nil, nil }
