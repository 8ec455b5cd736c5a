package partition

import (
	"math/bits"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample/position"
)

// Observed is what a shard delivered, in bounded memory: the outermost positions, a sample of
// the distinct ones, and the cells of the key space that had a key. Adding a key twice changes
// nothing.
type Observed struct {
	keys      bool
	low, high position.Position
	// sampled are the positions with the smallest ranks, in order of rank.
	sampled []position.Position
	cells   [1 << cellBits / 64]uint64
}

// maxSampled is how many positions of a shard are kept. The extremes alone would distort the
// rate of contradictions.
const maxSampled = 256

// Add keeps a key's position.
func (o *Observed) Add(p position.Position) {
	if !o.keys {
		o.keys, o.low, o.high = true, p, p
	}
	o.low, o.high = min(o.low, p), max(o.high, p)
	cell := p.Cell(cellBits)
	o.cells[cell/64] |= 1 << (cell % 64)
	at, known := slices.BinarySearchFunc(o.sampled, p, func(a, b position.Position) int { return compareRanks(a, b) })
	if known || at == maxSampled {
		return
	}
	o.sampled = slices.Insert(o.sampled, at, p)
	o.sampled = o.sampled[:min(len(o.sampled), maxSampled)]
}

// compareRanks orders positions by chance, but always alike.
func compareRanks(a, b position.Position) int {
	x, y := rank(a), rank(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// rank is a one-to-one mix of a position.
func rank(p position.Position) uint64 {
	const odd = 0x9e3779b97f4a7c15
	return bits.Reverse64(uint64(p)*odd) * odd
}

// Observe adds what a shard delivered.
func (m *Map) Observe(id string, o *Observed, now time.Time) {
	if !o.keys {
		return
	}
	for _, p := range append([]position.Position{o.low, o.high}, o.sampled...) {
		m.Add(id, p, now)
	}
	for word, set := range o.cells {
		for ; set != 0; set &= set - 1 {
			m.AddCell(id, word*64+bits.TrailingZeros64(set))
		}
	}
}
