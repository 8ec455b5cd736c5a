package board

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// openSecond is what a second that is open to late data added to its sum.
type openSecond struct {
	second, requests int64
	load             sketch.Load
	callers          sketch.Top
}

// openSeconds are those of a table or index. A quarter of an hour of them would be most of
// what a small table takes, so that all but the newest ones, and those for which late data
// came last, are kept as varints: some 12 bytes a second instead of some 130.
type openSeconds struct {
	blocks []openBlock // the oldest first
	// since is the oldest second that is open. Those before it in its block are closed,
	// and stay until the block is.
	since int64
	// late is the number of the block for which late data came last.
	late int64
}

func newOpenSeconds() openSeconds { return openSeconds{since: math.MinInt64, late: math.MinInt64} }

// blockSeconds is how many seconds a block has: one for each bit of which are present.
const blockSeconds = 64

// openBlock is the seconds of a multiple of blockSeconds. Either loose has them, or loads
// and callers do, in the order of time.
type openBlock struct {
	number  int64 // seconds are divided by blockSeconds
	present uint64
	loose   []openSecond
	// loads has the requests, the reads and the writes of each second, callers what
	// is missing of them, their number, and of each its place in texts and its weight.
	loads, callers []byte
	texts          []callerText
}

// callerText is a caller without a weight.
type callerText struct {
	hash uint64
	text string
}

func blockOf(second int64) (number int64, bit uint64) {
	number = second / blockSeconds
	if second%blockSeconds < 0 {
		number--
	}
	return number, 1 << (second - number*blockSeconds)
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

// at returns a second to change, made if it is not there, until the next call.
func (s *openSeconds) at(second int64) *openSecond {
	number, bit := blockOf(second)
	at, found := s.find(number)
	if !found {
		s.blocks = slices.Insert(s.blocks, at, openBlock{number: number})
	}
	newest := len(s.blocks) - 1
	if at < newest {
		s.late = number
	}
	for i := range s.blocks[:newest] {
		if b := &s.blocks[i]; b.number != s.late {
			b.pack()
		}
	}
	b := &s.blocks[at]
	b.unpack()
	place := bits.OnesCount64(b.present & (bit - 1))
	if b.present&bit == 0 {
		b.present |= bit
		b.loose = slices.Insert(b.loose, place, openSecond{second: second})
	}
	return &b.loose[place]
}

// loads calls each with the open seconds' loads from one to another, both included.
func (s *openSeconds) loads(from, to int64, each func(sketch.Load)) {
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

// kept calls each with every second that is still here, the oldest first.
func (s *openSeconds) kept(each func(*openSecond)) {
	for i := range s.blocks {
		s.blocks[i].each(each)
	}
}

// close closes the seconds before oldest, and calls each with those that leave.
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
	loose := b.loose
	if loose == nil {
		loose = b.unpacked()
	}
	for i := range loose {
		f(&loose[i])
	}
}

func (b *openBlock) eachLoad(f func(second, requests int64, l sketch.Load)) {
	if b.loose != nil {
		for i := range b.loose {
			f(b.loose[i].second, b.loose[i].requests, b.loose[i].load)
		}
		return
	}
	r := varints(b.loads)
	for left := b.present; left != 0; left &= left - 1 {
		second := b.number*blockSeconds + int64(bits.TrailingZeros64(left))
		requests, read, write := r.next(), r.next(), r.next()
		f(second, int64(requests), sketch.Load{Read: sample.Milli(read), Write: sample.Milli(write)})
	}
}

func (b *openBlock) unpack() {
	if b.loose == nil {
		b.loose = b.unpacked()
		b.loads, b.callers, b.texts = nil, nil, nil
	}
}

func (b *openBlock) unpacked() []openSecond {
	all := make([]openSecond, 0, bits.OnesCount64(b.present)+1)
	b.eachLoad(func(second, requests int64, l sketch.Load) {
		all = append(all, openSecond{second: second, requests: requests, load: l})
	})
	r := varints(b.callers)
	for i := range all {
		top := &all[i].callers
		top.Missing = r.next()
		if n := r.next(); n > 0 {
			top.Entries = make([]sketch.Entry, n)
		}
		for j := range top.Entries {
			of := b.texts[r.next()]
			top.Entries[j] = sketch.Entry{Hash: of.hash, Text: of.text, Weight: r.next()}
		}
	}
	return all
}

func (b *openBlock) pack() {
	if b.loose == nil {
		return
	}
	var loads, callers []byte
	texts := map[callerText]uint64{}
	for i := range b.loose {
		o := &b.loose[i]
		for _, n := range []uint64{uint64(o.requests), uint64(o.load.Read), uint64(o.load.Write)} {
			loads = binary.AppendUvarint(loads, n)
		}
		callers = binary.AppendUvarint(callers, o.callers.Missing)
		callers = binary.AppendUvarint(callers, uint64(len(o.callers.Entries)))
		for _, e := range o.callers.Entries {
			of := callerText{e.Hash, e.Text}
			place, known := texts[of]
			if !known {
				place = uint64(len(b.texts))
				texts[of], b.texts = place, append(b.texts, of)
			}
			callers = binary.AppendUvarint(binary.AppendUvarint(callers, place), e.Weight)
		}
	}
	b.loads, b.callers, b.loose = slices.Clone(loads), slices.Clone(callers), nil
}

// varints are numbers that pack wrote.
type varints []byte

func (r *varints) next() uint64 {
	n, size := binary.Uvarint(*r)
	*r = (*r)[size:]
	return n
}
