// Package countmin counts, within a bound, the keys of a second that have no place of
// their own.
package countmin

import "math"

// Unlimited stands for an amount that a full counter can no longer hold.
const Unlimited = math.MaxUint64

const (
	countersPerLine = 16 // one cache line of uint32
	rows            = 4  // counters a key has in its line
)

// Sketch is a blocked count-min sketch with conservative update. A key's
// counters lie in one cache line, one in each quarter of it. Alone such a
// sketch is unsound in its errors (a cold key can share all four counters with
// a hot one); behind the front it holds only what is not hot.
type Sketch struct {
	lines [][countersPerLine]uint32
	mask  uint64
}

// New returns an empty sketch of so many bytes, a power of two.
func New(bytes int) Sketch {
	n := bytes / (4 * countersPerLine)
	return Sketch{lines: make([][countersPerLine]uint32, n), mask: uint64(n - 1)}
}

// cells returns the key's line and the places of its counters there.
func (c *Sketch) cells(hash uint64) (*[countersPerLine]uint32, [rows]uint8) {
	return &c.lines[hash&c.mask], [rows]uint8{
		uint8(hash >> 56 & 3),
		uint8(4 + hash>>58&3),
		uint8(8 + hash>>60&3),
		uint8(12 + hash>>62&3),
	}
}

// Estimate returns no less than the weight that was added under the hash.
func (c *Sketch) Estimate(hash uint64) uint64 {
	line, at := c.cells(hash)
	least := min(line[at[0]], line[at[1]], line[at[2]], line[at[3]])
	if least == math.MaxUint32 {
		return Unlimited
	}
	return uint64(least)
}

// Raise lifts the key's counters to at least weight, and no further: the
// conservative update.
func (c *Sketch) Raise(hash, weight uint64) {
	value := uint32(min(weight, math.MaxUint32))
	line, at := c.cells(hash)
	for _, i := range at {
		line[i] = max(line[i], value)
	}
}

// Clear forgets everything.
func (c *Sketch) Clear() { clear(c.lines) }
