package sketch

import (
	"math"

	"github.com/keyheat/keyheat/sample"
)

// cellLeast is the smallest encoded size of a cell, as in codec.go.
const cellLeast = 1 + 1 + 1

// writeCells writes cells in columns, which zstd packs best: the distances between cells, the
// reads, and the writes. Loads are multiples of one unit, mostly of a whole or half unit of
// capacity.
func (w *writer) writeCells(all []Cell) {
	w.count(len(all))
	if len(all) == 0 {
		return
	}
	unit := uint64(0)
	for i := range all {
		unit = divisor(unit, uint64(all[i].Read))
		unit = divisor(unit, uint64(all[i].Write))
	}
	unit = max(unit, 1)
	w.uint(unit)
	next := uint16(0)
	for i := range all {
		w.uint(uint64(all[i].At - next))
		next = all[i].At + 1
	}
	for i := range all {
		w.uint(uint64(all[i].Read) / unit)
	}
	for i := range all {
		w.uint(uint64(all[i].Write) / unit)
	}
}

// divisor returns the greatest common divisor.
func divisor(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

func (r *reader) readCells() []Cell {
	n := r.length(cellLeast)
	if n == 0 || n > cellCount {
		if n != 0 {
			r.fail()
		}
		return nil
	}
	unit := r.natural()
	all := make([]Cell, n)
	next := int64(0)
	for i := range all {
		at := next + min(r.natural(), cellCount)
		if at >= cellCount || unit == 0 {
			r.fail()
			return nil
		}
		all[i].At, next = uint16(at), at+1
	}
	for i := range all {
		all[i].Read = r.multiple(unit)
	}
	for i := range all {
		all[i].Write = r.multiple(unit)
	}
	return all
}

// multiple reads a load that is a multiple of a unit.
func (r *reader) multiple(unit int64) sample.Milli {
	n := r.natural()
	if n > math.MaxInt64/unit {
		return sample.Milli(r.fail())
	}
	return sample.Milli(n * unit)
}
