package sketch

import (
	"cmp"
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
)

const (
	// CellBits is the number of bits of a position that name its cell. Only the cells at the ends of
	// a partition are uncertain: in a table of 100 partitions, 2 of some 160.
	CellBits = 14
	// cellNumber is the number of cells of the key space.
	cellNumber = 1 << CellBits
	// maxCellTables is the most tables of a second with cells.
	maxCellTables = 16
)

// Cell is the load of one part of the key space.
type Cell struct {
	// At is the number of the cell: see [position.Position.Cell].
	At uint16
	// Read and Write are in thousandths of a unit.
	Read, Write sample.Milli
}

// cellCounts are the cells of a table in a live second: 128 KiB.
type cellCounts [cellNumber]struct{ read, write uint32 }

// add adds the load of a key, unless a counter would overflow.
func (c *cellCounts) add(at position.Position, read, write sample.Milli) {
	cell := &c[at.Cell(CellBits)]
	if sum := uint64(cell.read) + uint64(read); sum <= math.MaxUint32 {
		cell.read = uint32(sum)
	}
	if sum := uint64(cell.write) + uint64(write); sum <= math.MaxUint32 {
		cell.write = uint32(sum)
	}
}

func (c *cellCounts) list() []Cell {
	n := 0
	for _, cell := range c {
		n += int(min(1, cell.read|cell.write))
	}
	all := make([]Cell, 0, n)
	for at, cell := range c {
		if cell.read|cell.write > 0 {
			all = append(all, Cell{uint16(at), sample.Milli(cell.read), sample.Milli(cell.write)})
		}
	}
	return all
}

// cellPool holds the cells of a second's tables, and reuses their memory. Loads wait for the
// positions of their keys, which are found some at a time.
type cellPool struct {
	counts  []*cellCounts
	used    int
	keys    position.Batch
	waiting [position.BatchSize]waitingCell
}

// waitingCell is the load of a key whose position is not yet found.
type waitingCell struct {
	counts      *cellCounts
	read, write sample.Milli
}

// Add adds the load of a key to a table's cells, unless the key has no known position, or a
// counter would overflow.
func (p *cellPool) Add(to *cellCounts, k sample.Key, place sample.Place, read, write sample.Milli) {
	if place > 0 {
		if at, _, known := position.Range(k, place); known {
			to.add(at, read, write)
		}
		return
	}
	p.waiting[p.keys.Len()] = waitingCell{to, read, write}
	if p.keys.Add(k) && p.keys.Len() == position.BatchSize {
		p.settle()
	}
}

// settle adds the loads that wait.
func (p *cellPool) settle() {
	for i, at := range p.keys.Find() {
		w := &p.waiting[i]
		w.counts.add(at, w.read, w.write)
	}
}

// List returns a table's cells with load.
func (p *cellPool) List(c *cellCounts) []Cell {
	p.settle()
	return c.list()
}

// Take returns empty cells for a table, nil if too many tables have some.
func (p *cellPool) Take() *cellCounts {
	if p.used == maxCellTables {
		return nil
	}
	if p.used == len(p.counts) {
		p.counts = append(p.counts, &cellCounts{})
	}
	p.used++
	return p.counts[p.used-1]
}

// Size returns the bytes that the cells in use take.
func (p *cellPool) Size() int { return p.used * cellNumber * 8 }

// Clear takes all cells back.
func (p *cellPool) Clear() {
	p.keys.Clear()
	for _, c := range p.counts[:p.used] {
		*c = cellCounts{}
	}
	p.used = 0
}

// sortedByIndex is the number of cells from which an index of the key space sorts them faster.
const sortedByIndex = 256

// sumCells returns cells in order, and adds up equal ones. It changes the given ones.
func sumCells(all []Cell) []Cell {
	n := 0
	if len(all) < sortedByIndex {
		slices.SortFunc(all, func(a, b Cell) int { return cmp.Compare(a.At, b.At) })
		for _, c := range all {
			if n > 0 && all[n-1].At == c.At {
				all[n-1] = all[n-1].plus(c)
			} else {
				all[n], n = c, n+1
			}
		}
		return all[:n:n]
	}
	var index [cellNumber]uint16 // one more than the place of each cell in all
	for _, c := range all {
		if at := index[c.At]; at > 0 {
			all[at-1] = all[at-1].plus(c)
			continue
		}
		all[n], n = c, n+1
		index[c.At] = uint16(n)
	}
	sorted := make([]Cell, 0, n)
	for _, at := range index {
		if at > 0 {
			sorted = append(sorted, all[at-1])
		}
	}
	return sorted
}

// mergeCells returns the sums of two sorted lists. It changes neither, and may return one.
func mergeCells(a, b []Cell) []Cell {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	sum := make([]Cell, 0, min(len(a)+len(b), cellNumber))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].At < b[0].At:
			sum, a = append(sum, a[0]), a[1:]
		case b[0].At < a[0].At:
			sum, b = append(sum, b[0]), b[1:]
		default:
			sum = append(sum, a[0].plus(b[0]))
			a, b = a[1:], b[1:]
		}
	}
	return slices.Clip(append(append(sum, a...), b...))
}

// plus adds the load of another part of the cell. A sum that overflows is the largest number.
func (c Cell) plus(o Cell) Cell {
	if c.Read += o.Read; c.Read < 0 {
		c.Read = math.MaxInt64
	}
	if c.Write += o.Write; c.Write < 0 {
		c.Write = math.MaxInt64
	}
	return c
}
