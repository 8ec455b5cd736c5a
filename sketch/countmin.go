package sketch

import "math"

// unlimited stands for an amount that a full counter can no longer hold.
const unlimited = math.MaxUint64

const (
	countersPerLine = 16 // one cache line of uint32
	rows            = 4  // counters a key has in its line
)

// countMin is a blocked count-min sketch with conservative update. A key's
// counters lie in one cache line, one in each quarter of it. Alone such a
// sketch is unsound in its errors (a cold key can share all four counters with
// a hot one); behind the front it holds only what is not hot.
type countMin struct {
	lines [][countersPerLine]uint32
	mask  uint64
}

func newCountMin(bytes int) countMin {
	n := bytes / (4 * countersPerLine)
	return countMin{lines: make([][countersPerLine]uint32, n), mask: uint64(n - 1)}
}

// cells returns the key's line and the places of its counters there.
func (c *countMin) cells(hash uint64) (*[countersPerLine]uint32, [rows]uint8) {
	return &c.lines[hash&c.mask], [rows]uint8{
		uint8(hash >> 56 & 3),
		uint8(4 + hash>>58&3),
		uint8(8 + hash>>60&3),
		uint8(12 + hash>>62&3),
	}
}

// estimate returns no less than the weight that was added under the hash.
func (c *countMin) estimate(hash uint64) uint64 {
	line, at := c.cells(hash)
	least := min(line[at[0]], line[at[1]], line[at[2]], line[at[3]])
	if least == math.MaxUint32 {
		return unlimited
	}
	return uint64(least)
}

// raise lifts the key's counters to at least weight, and no further: the
// conservative update.
func (c *countMin) raise(hash, weight uint64) {
	value := uint32(min(weight, math.MaxUint32))
	line, at := c.cells(hash)
	for _, i := range at {
		line[i] = max(line[i], value)
	}
}

func (c *countMin) clear() { clear(c.lines) }
