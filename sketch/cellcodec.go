package sketch

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
)

// leastCellBytes is the smallest encoded size of a cell.
const leastCellBytes = 3

// appendCells writes cells in columns, which zstd packs best: the distances between cells, the
// reads, and the writes, all as varints. Loads are multiples of one unit, mostly of a whole or
// half unit of capacity.
func appendCells(to []byte, all []Cell) []byte {
	to = binary.AppendUvarint(to, uint64(len(all)))
	if len(all) == 0 {
		return to
	}
	unit := uint64(0)
	for i := range all {
		unit = divisor(unit, uint64(all[i].Read))
		unit = divisor(unit, uint64(all[i].Write))
	}
	unit = max(unit, 1)
	to = binary.AppendUvarint(slices.Grow(to, 2*leastCellBytes*len(all)), unit)
	next := uint16(0)
	for i := range all {
		to = appendCellNumber(to, uint64(all[i].At-next))
		next = all[i].At + 1
	}
	for i := range all {
		to = appendCellNumber(to, uint64(all[i].Read)/unit)
	}
	for i := range all {
		to = appendCellNumber(to, uint64(all[i].Write)/unit)
	}
	return to
}

// appendCellNumber appends a varint. Most have one byte.
func appendCellNumber(to []byte, v uint64) []byte {
	if v < 0x80 {
		return append(to, byte(v))
	}
	return binary.AppendUvarint(to, v)
}

// divisor returns the greatest common divisor.
func divisor(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// readCells reads the form of [appendCells], and returns the bytes behind it. ok is false if the
// bytes are no cells, or cells out of order.
func readCells(from []byte) (all []Cell, rest []byte, ok bool) {
	r := cellReader{rest: from}
	n := r.number(math.MaxInt64)
	if n == 0 {
		return nil, r.rest, !r.failed
	}
	if n > cellNumber || n > uint64(len(r.rest)/leastCellBytes) {
		return nil, nil, false
	}
	unit := max(r.number(math.MaxInt64), 1)
	all = make([]Cell, n)
	next := uint64(0)
	for i := range all {
		at := next + r.number(cellNumber)
		if at >= cellNumber {
			return nil, nil, false
		}
		all[i].At, next = uint16(at), at+1
	}
	for i := range all {
		all[i].Read = sample.Milli(r.number(math.MaxInt64/unit) * unit)
	}
	for i := range all {
		all[i].Write = sample.Milli(r.number(math.MaxInt64/unit) * unit)
	}
	return all, r.rest, !r.failed
}

// cellReader reads varints.
type cellReader struct {
	rest   []byte
	failed bool
}

// number reads a number up to `most`. After a fault it is zero.
func (r *cellReader) number(most uint64) uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > most || r.failed {
		r.failed = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}
