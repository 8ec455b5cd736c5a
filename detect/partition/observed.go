package partition

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/keyheat/keyheat/sample/position"
)

// Observed is what a shard delivered, in bounded memory: the outermost positions, and the
// cells of the key space that had a key. Adding a key twice changes nothing.
type Observed struct {
	keys      bool
	low, high position.Position
	cells     cells
}

// cells is a set of the cells of the key space.
type cells [1 << cellBits / 64]uint64

func (c *cells) has(cell int) bool { return c[cell/64]&(1<<(cell%64)) != 0 }
func (c *cells) set(cell int)      { c[cell/64] |= 1 << (cell % 64) }

// numbers returns the cells in order.
func (c *cells) numbers() (all []int) {
	for word, set := range c {
		for ; set != 0; set &= set - 1 {
			all = append(all, word*64+bits.TrailingZeros64(set))
		}
	}
	return all
}

// Add keeps a key's position, and reports whether it says something new.
func (o *Observed) Add(p position.Position) bool {
	cell := p.Cell(cellBits)
	if o.keys && o.low <= p && p <= o.high && o.cells.has(cell) {
		return false
	}
	if !o.keys {
		o.keys, o.low, o.high = true, p, p
	}
	o.low, o.high = min(o.low, p), max(o.high, p)
	o.cells.set(cell)
	return true
}

// isCoarse reports whether the positions have 16 bits, as those of hidden keys do.
func (o *Observed) isCoarse() bool { return o.low == o.low.Coarse() && o.high == o.high.Coarse() }

// fewCells is the most cells that are written one by one; more are written as a set.
const fewCells = len(cells{}) * 8 / 2

// MarshalBinary returns the stored form: the outermost positions, then two bytes for each
// cell, or the whole set if that is shorter.
func (o *Observed) MarshalBinary() ([]byte, error) {
	if !o.keys {
		return nil, nil
	}
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(o.low)), uint64(o.high))
	if few := o.cells.numbers(); len(few) < fewCells {
		for _, cell := range few {
			b = binary.BigEndian.AppendUint16(b, uint16(cell)) //nolint:gosec // a cell has 16 bits
		}
		return b, nil
	}
	for _, word := range o.cells {
		b = binary.BigEndian.AppendUint64(b, word)
	}
	return b, nil
}

// errObserved reports stored bytes that MarshalBinary did not write.
var errObserved = errors.New("partition: what a shard delivered is not in its stored form")

// UnmarshalBinary reads the form of MarshalBinary.
func (o *Observed) UnmarshalBinary(b []byte) error {
	*o = Observed{}
	if len(b) == 0 {
		return nil
	}
	if len(b) < 16 || len(b)%2 != 0 || len(b) > 16+len(o.cells)*8 {
		return fmt.Errorf("%w: it has %d bytes", errObserved, len(b))
	}
	o.keys, o.low, o.high = true, position.Position(binary.BigEndian.Uint64(b)), position.Position(binary.BigEndian.Uint64(b[8:]))
	if b = b[16:]; len(b) == len(o.cells)*8 {
		for word := range o.cells {
			o.cells[word] = binary.BigEndian.Uint64(b[8*word:])
		}
		return nil
	}
	for ; len(b) > 0; b = b[2:] {
		o.cells.set(int(binary.BigEndian.Uint16(b)))
	}
	return nil
}

// Observe adds what a shard delivered so far.
func (m *Map) Observe(id string, o *Observed, now time.Time) {
	s := m.shards[id]
	if s == nil || !o.keys {
		return
	}
	if o.isCoarse() && !m.Coarse {
		m.coarsen()
	}
	m.Add(id, o.low, now)
	m.Add(id, o.high, now)
	for _, cell := range o.cells.numbers() {
		m.observeCell(s, cell, now)
	}
}

// observeCell counts a cell that a shard delivered a key of. The key contradicts if the
// shard cannot reach the cell.
func (m *Map) observeCell(s *Shard, cell int, now time.Time) {
	first := position.Position(cell) << (64 - cellBits)
	last := first | (1<<(64-cellBits) - 1)
	for x := s; x != nil && (!x.Keys || last < x.Low || first > x.High); x = x.parent {
		nearest := first
		if x.Keys && last < x.Low {
			nearest = last
		}
		if m.clashes(x, nearest) && (x.Keys || m.clashes(x, last)) {
			m.trust.contradict(nearest, now)
			return
		}
	}
	m.trust.count(false)
	m.AddCell(s.ID, cell)
}
