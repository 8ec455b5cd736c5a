package episode

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/sample"
)

const (
	// openPoints is the number of a track's newest points that are not packed. Late parts
	// of a second replace them again and again.
	openPoints = 16
	// blockSeconds is the length of a block: one bit of block.present each.
	blockSeconds = 64
)

// series keeps points by second. A point takes 392 bytes, and about 20 once it is packed:
// see [coder].
type series struct {
	blocks []block // by number
	open   []point // by second, after all blocks
}

// block holds the packed points of some seconds, in order.
type block struct {
	number  int64  // first second / blockSeconds
	present uint64 // a bit for each second
	packed  []byte
	// heaviest is the weight of the heaviest point, or of one that was dropped since.
	heaviest  sample.Milli
	pressures []*throttling.Pressure // of a table or index as a whole
}

func (s *series) isEmpty() bool { return len(s.open) == 0 }

// first returns the first second.
func (s *series) first() int64 {
	if len(s.blocks) > 0 {
		b := &s.blocks[0]
		return b.begin() + int64(bits.TrailingZeros64(b.present))
	}
	return s.open[0].second
}

// put keeps a point, in place of the one of its second.
func (s *series) put(p *point) {
	i, found := s.place(p.second)
	if found {
		s.open[i] = *p
		return
	}
	full := len(s.open) == openPoints
	if i == 0 && (full || len(s.blocks) > 0 && p.second <= s.blocks[len(s.blocks)-1].lastSecond()) {
		s.pack(p)
		return
	}
	if full {
		s.pack(&s.open[0])
		s.open = slices.Delete(s.open, 0, 1)
		i--
	}
	s.open = slices.Insert(s.open, i, *p)
}

// place returns the index of a second among the open points, and whether it has one.
func (s *series) place(second int64) (i int, found bool) {
	return slices.BinarySearchFunc(s.open, second, func(q point, at int64) int { return cmp.Compare(q.second, at) })
}

// block returns the index of a second's block, and whether there is one.
func (s *series) block(second int64) (i int, found bool) {
	return slices.BinarySearchFunc(s.blocks, blockNumber(second), func(b block, n int64) int { return cmp.Compare(b.number, n) })
}

// blockNumber rounds towards the past, also before 1970.
func blockNumber(second int64) int64 { return second >> bits.TrailingZeros(blockSeconds) }

// pack puts a point into its block.
func (s *series) pack(p *point) {
	i, found := s.block(p.second)
	if !found {
		if i > 0 { // no more is appended, as a rule
			s.blocks[i-1].packed = slices.Clone(s.blocks[i-1].packed)
		}
		s.blocks = slices.Insert(s.blocks, i, block{number: blockNumber(p.second)})
	}
	b := &s.blocks[i]
	if b.present == 0 || p.second > b.lastSecond() {
		b.append(p)
		return
	}
	before := *b
	*b = block{number: before.number}
	added := false
	for q := range before.points() {
		if !added && q.second >= p.second {
			b.append(p)
			added = true
		}
		if q.second != p.second {
			b.append(q)
		}
	}
	b.packed = slices.Clone(b.packed)
}

// get returns the point of a second.
func (s *series) get(second int64) (p point, found bool) {
	if i, found := s.place(second); found {
		return s.open[i], true
	}
	i, found := s.block(second)
	if !found || s.blocks[i].present&s.blocks[i].bit(second) == 0 {
		return p, false
	}
	for q := range s.blocks[i].points() {
		if q.second == second {
			return *q, true
		}
	}
	return p, false
}

// pointsAfter returns the points of the seconds after one, in order. Each is valid until the next.
func (s *series) pointsAfter(second int64) iter.Seq[*point] {
	return func(yield func(*point) bool) {
		for i := range s.blocks {
			if s.blocks[i].lastSecond() <= second {
				continue
			}
			for p := range s.blocks[i].points() {
				if p.second > second && !yield(p) {
					return
				}
			}
		}
		for i := range s.open {
			if p := &s.open[i]; p.second > second && !yield(p) {
				return
			}
		}
	}
}

// dropBefore drops the points of the seconds before one.
func (s *series) dropBefore(oldest int64) {
	n := 0
	for n < len(s.blocks) && s.blocks[n].lastSecond() < oldest {
		n++
	}
	s.blocks = slices.Delete(s.blocks, 0, n)
	if len(s.blocks) > 0 {
		s.blocks[0].dropBefore(oldest)
	}
	i, _ := s.place(oldest)
	s.open = slices.Delete(s.open, 0, i)
}

// hotSeconds returns the number of seconds with at least the weight hot, and the highest
// weight.
func (s *series) hotSeconds(hot sample.Milli) (seconds int, most sample.Milli) {
	count := func(p *point) {
		weight := p.weight()
		if most = max(most, weight); weight >= hot {
			seconds++
		}
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		if i > 0 && b.heaviest < hot {
			most = max(most, b.heaviest)
			continue
		}
		for p := range b.points() {
			count(p)
		}
	}
	for i := range s.open {
		count(&s.open[i])
	}
	return seconds, most
}

// bytes returns about how many bytes the points take.
func (s *series) bytes() int64 {
	n := cap(s.open)*int(unsafe.Sizeof(point{})) + cap(s.blocks)*int(unsafe.Sizeof(block{}))
	for i := range s.blocks {
		n += cap(s.blocks[i].packed) + len(s.blocks[i].pressures)*int(unsafe.Sizeof(throttling.Pressure{}))
	}
	return int64(n)
}

func (b *block) begin() int64 { return b.number * blockSeconds }

func (b *block) lastSecond() int64 { return b.begin() + int64(bits.Len64(b.present)) - 1 }

func (b *block) bit(second int64) uint64 { return 1 << (second - b.begin()) }

// append adds a point after all others.
func (b *block) append(p *point) {
	b.present |= b.bit(p.second)
	b.heaviest = max(b.heaviest, p.weight())
	b.packed = appendPoint(b.packed, p)
	if p.pressure != nil {
		b.pressures = append(b.pressures, p.pressure)
	}
}

// points returns the points in order. Each is valid until the next.
func (b *block) points() iter.Seq[*point] {
	return func(yield func(*point) bool) {
		var p point
		packed, pressures := b.packed, b.pressures
		for present := b.present; present != 0; present &= present - 1 {
			packed, pressures = b.next(&p, present, packed, pressures)
			if !yield(&p) {
				return
			}
		}
	}
}

// next reads the point of the first second that is present.
func (b *block) next(p *point, present uint64, packed []byte, pressures []*throttling.Pressure) ([]byte, []*throttling.Pressure) {
	packed, withPressure := readPoint(packed, p, b.begin()+int64(bits.TrailingZeros64(present)))
	if withPressure {
		p.pressure, pressures = pressures[0], pressures[1:]
	}
	return packed, pressures
}

// dropBefore drops the points of the seconds before one.
func (b *block) dropBefore(oldest int64) {
	var p point
	for b.begin()+int64(bits.TrailingZeros64(b.present)) < oldest {
		b.packed, b.pressures = b.next(&p, b.present, b.packed, b.pressures)
		b.present &= b.present - 1
	}
}

// weight returns the demand in read units.
func (p *point) weight() sample.Milli {
	return max(detect.WritesInReads*p.write.Value, p.read.Value)
}
