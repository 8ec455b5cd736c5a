package board

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// openSecond is the contribution to the sum by a second open to late data.
type openSecond struct {
	second, requests int64
	load             sketch.Load
	callers          sketch.Top
}

// openSeconds are the open seconds of a table or index. Unpacked, 15 minutes of them
// would take most of a small table's memory. All but the newest seconds and seconds with
// recent late data are therefore varints. A packed second takes about 4 bytes if its
// callers repeat, instead of about 100.
type openSeconds struct {
	blocks []openBlock // the oldest first
	// since is the oldest open second. Earlier seconds of its block are closed, and leave
	// with the block.
	since int64
	// late is the number of the block that last took late data.
	late int64
}

func newOpenSeconds() openSeconds { return openSeconds{since: math.MinInt64, late: math.MinInt64} }

const (
	// blockSeconds is the number of seconds in a block: one for each bit of the present
	// mask.
	blockSeconds = 64
	// looseSeconds is the number of loose seconds in the newest block before half of them
	// are packed. Usually fewer are counted again, because some collector had more of
	// them.
	looseSeconds = 16
)

// openBlock is the seconds of a multiple of blockSeconds. The first ones are packed, the
// last ones loose.
type openBlock struct {
	number  int64 // seconds are divided by blockSeconds
	present uint64
	loose   []openSecond
	// packed holds each second's requests, reads and writes, then its callers. Callers
	// are left out if the second is in again with the callers of the second before.
	// Callers have a length in bytes, a missing weight and a count; each has its place in
	// texts and the remaining weight.
	packed []byte
	again  uint64
	texts  []callerText
}

// callerText is a caller without a weight.
type callerText struct {
	hash uint64
	text string
}

func blockOf(second int64) (number int64, bit uint64) {
	return second >> bits.TrailingZeros(blockSeconds), 1 << (second & (blockSeconds - 1))
}

func (s *openSeconds) find(number int64) (int, bool) {
	return slices.BinarySearchFunc(s.blocks, number, func(b openBlock, n int64) int { return cmp.Compare(b.number, n) })
}

// has reports whether a second is open and was observed.
func (s *openSeconds) has(second int64) bool {
	number, bit := blockOf(second)
	at, found := s.find(number)
	return found && second >= s.since && s.blocks[at].present&bit != 0
}

// ensure returns a second to change, and adds it if it is not there. The result is valid
// until the next call.
func (s *openSeconds) ensure(second int64) *openSecond {
	number, bit := blockOf(second)
	at, found := s.find(number)
	newest := len(s.blocks) - 1
	if !found {
		s.blocks = slices.Insert(s.blocks, at, openBlock{number: number})
		s.packBefore(newest)
		newest++
	}
	if at < newest && number != s.late {
		s.late = number
		s.packBefore(newest)
	}
	b := &s.blocks[at]
	if b.present < bit && len(b.loose) >= looseSeconds {
		s.late = math.MinInt64
		s.packBefore(at)
		b.pack(len(b.loose) - looseSeconds/2)
	}
	place := bits.OnesCount64(b.present&(bit-1)) - bits.OnesCount64(b.packedBits())
	if place < 0 {
		b.unpack()
		place = bits.OnesCount64(b.present & (bit - 1))
	}
	if b.present&bit == 0 {
		b.present |= bit
		b.loose = slices.Insert(b.loose, place, openSecond{second: second})
	}
	return &b.loose[place]
}

// packBefore packs the blocks before one, except the block of late data. While the newest
// block has only a few seconds, the block before it may be counted again.
func (s *openSeconds) packBefore(at int) {
	for i := range at {
		if s.blocks[i].number != s.late {
			s.pack(i)
		}
	}
}

// pack packs all of a block.
func (s *openSeconds) pack(at int) {
	b := &s.blocks[at]
	if len(b.loose) == 0 {
		return
	}
	b.unpack() // together they are smaller
	b.pack(len(b.loose))
	b.packed, b.loose = slices.Clone(b.packed), nil
	if at > 0 && slices.Equal(b.texts, s.blocks[at-1].texts) {
		b.texts = slices.Clip(s.blocks[at-1].texts)
	}
}

// eachLoadBetween calls each with the loads of the open seconds in a range, both ends
// included.
func (s *openSeconds) eachLoadBetween(from, to int64, each func(sketch.Load)) {
	from = max(from, s.since)
	number, _ := blockOf(from)
	for at, _ := s.find(number); at < len(s.blocks) && s.blocks[at].number*blockSeconds <= to; at++ {
		s.blocks[at].eachLoad(func(second, _ int64, l sketch.Load) {
			if from <= second && second <= to {
				each(l)
			}
		})
	}
}

// eachKept calls each with every second that is still here, the oldest first.
func (s *openSeconds) eachKept(each func(*openSecond)) {
	for i := range s.blocks {
		s.blocks[i].each(each)
	}
}

// close closes the seconds before oldest, and calls each for every closed second.
func (s *openSeconds) close(oldest int64, each func(*openSecond)) {
	s.since = max(s.since, oldest)
	number, _ := blockOf(s.since)
	n, _ := s.find(number)
	for i := range s.blocks[:n] {
		s.blocks[i].each(each)
	}
	s.blocks = slices.Delete(s.blocks, 0, n)
}

// each calls f with the block's seconds in the order of time.
func (b *openBlock) each(f func(*openSecond)) {
	for _, part := range [][]openSecond{b.readPacked(), b.loose} {
		for i := range part {
			f(&part[i])
		}
	}
}

func (b *openBlock) eachLoad(f func(second, requests int64, l sketch.Load)) {
	b.eachPacked(func(second, requests int64, l sketch.Load, _ varints) { f(second, requests, l) })
	for i := range b.loose {
		f(b.loose[i].second, b.loose[i].requests, b.loose[i].load)
	}
}

// eachPacked calls f with the packed seconds, and with the packed form of their callers.
func (b *openBlock) eachPacked(f func(second, requests int64, l sketch.Load, callers varints)) {
	r, callers := varints(b.packed), varints(nil)
	for left := b.packedBits(); left != 0; left &= left - 1 {
		second := b.number*blockSeconds + int64(bits.TrailingZeros64(left))
		requests, read, write := r.next(), r.next(), r.next()
		if b.again&(left&-left) == 0 {
			callers = r.take()
		}
		f(second, int64(requests), sketch.Load{Read: sample.Milli(read), Write: sample.Milli(write)}, callers)
	}
}

// packedBits returns the bits of present whose seconds are packed.
func (b *openBlock) packedBits() uint64 {
	if len(b.loose) == 0 {
		return b.present
	}
	_, bit := blockOf(b.loose[0].second)
	return b.present & (bit - 1)
}

// unpack makes all of the block loose.
func (b *openBlock) unpack() {
	b.loose = append(b.readPacked(), b.loose...)
	b.packed, b.again, b.texts = nil, 0, nil
}

func (b *openBlock) readPacked() []openSecond {
	all := make([]openSecond, 0, bits.OnesCount64(b.present)+1)
	b.eachPacked(func(second, requests int64, l sketch.Load, callers varints) {
		all = append(all, openSecond{second, requests, l, b.callers(callers, l)})
	})
	return all
}

// pack packs the first n of the loose seconds.
func (b *openBlock) pack(n int) {
	places := make(map[callerText]uint64, len(b.texts))
	for i, caller := range b.texts {
		places[caller] = uint64(i)
	}
	var before, callers []byte
	for i := range b.loose[:n] {
		o := &b.loose[i]
		for _, n := range []uint64{uint64(o.requests), uint64(o.load.Read), uint64(o.load.Write)} {
			b.packed = binary.AppendUvarint(b.packed, n)
		}
		callers = b.appendCallers(callers[:0], o, places)
		if i > 0 && bytes.Equal(callers, before) {
			_, bit := blockOf(o.second)
			b.again |= bit
			continue
		}
		b.packed = append(binary.AppendUvarint(b.packed, uint64(len(callers))), callers...)
		before, callers = callers, before
	}
	b.loose = slices.Delete(b.loose, 0, n)
}

// appendCallers appends a second's callers in packed form. A caller's weight is coded as
// the load left without it: usually none is left, and callers repeat in the next second.
// places maps callers to texts, since every second may bring new names.
func (b *openBlock) appendCallers(to []byte, o *openSecond, places map[callerText]uint64) []byte {
	to = binary.AppendUvarint(to, o.callers.Missing)
	to = binary.AppendUvarint(to, uint64(len(o.callers.Entries)))
	left := uint64(detect.Weight(o.load))
	for _, e := range o.callers.Entries {
		caller := callerText{e.Hash, e.Text}
		place, known := places[caller]
		if !known {
			place = uint64(len(b.texts))
			places[caller], b.texts = place, append(b.texts, caller)
		}
		left -= e.Weight // less than nothing is a large number, and comes back
		to = binary.AppendUvarint(binary.AppendUvarint(to, place), left)
	}
	return to
}

// callers reads the callers of a second with a load.
func (b *openBlock) callers(r varints, l sketch.Load) (top sketch.Top) {
	top.Missing = r.next()
	if n := r.next(); n > 0 {
		top.Entries = make([]sketch.Entry, n)
	}
	before := uint64(detect.Weight(l))
	for i := range top.Entries {
		caller, left := b.texts[r.next()], r.next()
		top.Entries[i] = sketch.Entry{Hash: caller.hash, Text: caller.text, Weight: before - left}
		before = left
	}
	return top
}

// varints are numbers that pack wrote.
type varints []byte

func (r *varints) next() uint64 {
	n, size := binary.Uvarint(*r)
	*r = (*r)[size:]
	return n
}

// take reads a length, and returns the numbers in as many bytes.
func (r *varints) take() varints {
	n := r.next()
	taken := (*r)[:n]
	*r = (*r)[n:]
	return taken
}
