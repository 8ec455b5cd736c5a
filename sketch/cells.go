package sketch

import (
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
)

const (
	// CellBits is the number of bits of a position that name its cell. A table of 100
	// partitions has some 40 cells in each.
	CellBits = 12
	// cellCount is the number of cells of the key space.
	cellCount = 1 << CellBits
	// placedTables is the most tables of a second with cells, and CellBytes the most memory
	// that their cells take.
	placedTables = 16
	CellBytes    = placedTables * cellCount * 8
)

// Cell is the load of one part of DynamoDB's key space.
type Cell struct {
	// At is the number of the cell: see [position.Position.Cell].
	At uint16
	Load
}

// cellCounts are the cells of a table in a live second. A load that would overflow a counter is
// not counted.
type cellCounts [cellCount]struct{ read, write uint32 }

func (c *cellCounts) add(at position.Position, l Load) {
	cell := &c[at.Cell(CellBits)]
	if sum := uint64(cell.read) + uint64(l.Read); sum <= math.MaxUint32 {
		cell.read = uint32(sum)
	}
	if sum := uint64(cell.write) + uint64(l.Write); sum <= math.MaxUint32 {
		cell.write = uint32(sum)
	}
}

// list returns the cells with load.
func (c *cellCounts) list() []Cell {
	n := 0
	for _, cell := range c {
		n += int(min(1, cell.read|cell.write))
	}
	all := make([]Cell, 0, n)
	for at, cell := range c {
		if cell.read|cell.write > 0 {
			all = append(all, Cell{uint16(at), Load{sample.Milli(cell.read), sample.Milli(cell.write)}})
		}
	}
	return all
}

// placer gives some tables of a second cells for their load that no candidate counts.
type placer struct {
	// isPlaced reports whether a table gets cells. It is nil if no table does.
	isPlaced func(table uint16) bool
	// counts are the cells of the first `used` tables that got some.
	counts []*cellCounts
	used   int
}

// cellsOf returns the cells of a table, nil if it has none. A table gets them with its first
// load that no candidate counts.
func (p *placer) cellsOf(t *sums, table uint16) *cellCounts {
	if t.cells != nil || t.unplaced || t.weight() < reserveFrom {
		return t.cells
	}
	if t.unplaced = p.used == placedTables || !p.isPlaced(table); t.unplaced {
		return nil
	}
	if p.used == len(p.counts) {
		p.counts = append(p.counts, &cellCounts{})
	}
	t.cells = p.counts[p.used]
	p.used++
	return t.cells
}

func (p *placer) clear() {
	for _, c := range p.counts[:p.used] {
		*c = cellCounts{}
	}
	p.used = 0
}

// turnAway adds the load of a request whose key has no candidate to the key's cell.
func (s *second) turnAway(t *sums, table uint16, key sample.Key, l Load) {
	if s.placer.isPlaced == nil {
		return
	}
	if cells := s.placer.cellsOf(t, table); cells != nil {
		if at, known := position.Find(key); known {
			cells.add(at, l)
		}
	}
}

// placeEvicted adds the load of an evicted candidate to its key's cell.
func (s *second) placeEvicted(at int) {
	if s.placer.isPlaced == nil {
		return
	}
	c := &s.front.candidates[at]
	s.turnAway(&s.sums[c.table], c.table, s.front.keyAt(at), c.load)
}

// PlaceKeys chooses the tables whose unlisted load is counted by the key's position:
// [Window.Cells]. It takes the MD5 of each request whose key has no candidate, so choose
// tables with known partitions. Indexes have none, and never have cells. A nil function
// chooses no table, as before the first call. It holds from the next second of a table on.
func (s *Shard) PlaceKeys(isPlaced func(sample.Target) bool) {
	var byNumber func(uint16) bool
	if isPlaced != nil {
		byNumber = func(table uint16) bool {
			t := s.tables.Name(table)
			return t.Index == "" && isPlaced(t)
		}
	}
	for _, sec := range s.ring {
		sec.placer.isPlaced = byNumber
	}
}

// Unplaced returns the load that is neither in Keys nor in Cells. It may be in any part of the
// key space. Its requests had no key, or a key without a known position.
func (w *Window) Unplaced() Load {
	rest := w.Total.Load
	for i := range w.Keys {
		rest = rest.minus(w.Keys[i].Low)
	}
	for i := range w.Cells {
		rest = rest.minus(w.Cells[i].Load)
	}
	return rest
}

// minus returns a load without a part of it.
func (l Load) minus(part Load) Load { return Load{l.Read - part.Read, l.Write - part.Write} }

// addCells returns the sums of two lists of cells. It changes neither, and may return one.
func addCells(a, b []Cell) []Cell {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	sum := make([]Cell, 0, min(len(a)+len(b), cellCount))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].At < b[0].At:
			sum, a = append(sum, a[0]), a[1:]
		case b[0].At < a[0].At:
			sum, b = append(sum, b[0]), b[1:]
		default:
			sum = append(sum, Cell{a[0].At, a[0].Plus(b[0].Load)})
			a, b = a[1:], b[1:]
		}
	}
	return slices.Clip(append(append(sum, a...), b...))
}

// dropped gathers the loads of keys that Trim drops, by their cells.
type dropped struct {
	loads [cellCount]Load
	any   bool
}

// add places a key. A key without a known position is left out.
func (d *dropped) add(k *KeyLoad) {
	if k.Cut {
		return
	}
	if at, known := position.Find(k.Key); known {
		cell := &d.loads[at.Cell(CellBits)]
		*cell, d.any = cell.Plus(k.Low.max(Load{})), true
	}
}

func (d *dropped) list() (all []Cell) {
	if !d.any {
		return nil
	}
	for at, l := range d.loads {
		if l != (Load{}) {
			all = append(all, Cell{uint16(at), l})
		}
	}
	return all
}
