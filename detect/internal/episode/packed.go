package episode

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/keyheat/keyheat/detect/sampling"
)

// coder turns a point into words, most of them zero, and words into a point, without
// rounding. A pair of equal fields takes one word and a zero.
type coder struct {
	words   [51]uint64
	n       int
	reading bool
}

// appendPoint appends a point's packed form: a mask of the words that are not zero, and these
// as varints. Its second and its pressure are not in it.
func appendPoint(to []byte, p *point) []byte {
	var c coder
	parts := int64(0)
	if p.regions != nil {
		parts = int64(len(p.regions.parts))
	}
	c.point(p, &parts)
	mask := uint64(0)
	for i, word := range c.words {
		if word != 0 {
			mask |= 1 << i
		}
	}
	to = binary.AppendUvarint(to, mask)
	for rest := mask; rest != 0; rest &= rest - 1 {
		to = binary.AppendUvarint(to, c.words[bits.TrailingZeros64(rest)])
	}
	if parts == 0 {
		return to
	}
	to = appendPoint(to, &p.regions.own)
	for i := range p.regions.parts {
		o := &p.regions.parts[i]
		to = append(binary.AppendUvarint(to, uint64(len(o.region))), o.region...)
		to = appendPoint(to, &o.point)
	}
	return to
}

// readPoint reads a point that appendPoint appended, and returns the bytes after it. The
// point had a pressure where withPressure holds.
func readPoint(from []byte, p *point, second int64) (rest []byte, withPressure bool) {
	c := coder{reading: true}
	mask, n := binary.Uvarint(from)
	from = from[n:]
	for ; mask != 0; mask &= mask - 1 {
		c.words[bits.TrailingZeros64(mask)], n = binary.Uvarint(from)
		from = from[n:]
	}
	parts := int64(0)
	*p = point{second: second}
	withPressure = c.point(p, &parts)
	if parts == 0 {
		return from, withPressure
	}
	r := &regions{parts: make([]part, parts)}
	from, _ = readPoint(from, &r.own, second)
	for i := range r.parts {
		length, n := binary.Uvarint(from)
		end := n + int(length)
		r.parts[i].region = string(from[n:end])
		from, _ = readPoint(from[end:], &r.parts[i].point, second)
	}
	p.regions = r
	return from, withPressure
}

// point codes every field, starting with the rarely zero ones, and reports whether the
// point has a pressure.
func (c *coder) point(p *point, parts *int64) (withPressure bool) {
	withPressure = p.pressure != nil
	number(c, &p.write.Value, 0)
	number(c, &p.requests, 0)
	number(c, &p.tableRequests, p.requests)
	number(c, &p.table.Write, p.write.Value)
	number(c, &p.read.Value, 0)
	number(c, &p.table.Read, p.read.Value)
	number(c, &p.tableChanges, 0)
	c.flag(&withPressure)
	c.amounts(&p.write, &sampling.Amounts{Value: p.write.Value, Low: p.write.Value, Proven: p.write.Value})
	c.amounts(&p.read, &sampling.Amounts{Value: p.read.Value, Low: p.read.Value, Proven: p.read.Value})
	c.float(&p.draws.RateLow, 0)
	c.float(&p.draws.RateHigh, p.draws.RateLow)
	number(c, &p.draws.Assumed, 0)
	number(c, &p.draws.Estimated, 0)
	number(c, &p.throttled.Read, 0)
	number(c, &p.throttled.Write, 0)
	number(c, &p.keyRange, 0)
	number(c, &p.noReason, 0)
	number(c, &p.others, 0)
	number(c, &p.replicated, 0)
	number(c, parts, 0)
	for i, same := range []*sampling.Amounts{&p.read, &p.write} {
		c.float(&p.whole[i], 0)
		number(c, &p.independent[i].Value, same.Value)
		c.amounts(&p.independent[i], same)
	}
	c.float(&p.batch.Part, 0)
	c.word(&p.batch.At)
	c.flag(&p.batch.Own)
	c.flag(&p.batch.Folded)
	ahead := int64(p.ahead)
	number(c, &ahead, 0)
	p.ahead = int(ahead)
	c.float(&p.grown, 0)
	c.flag(&p.grownKnown)
	c.float(&p.marking, 0)
	return withPressure
}

// amounts codes all of an amount but its value, as it differs from another.
func (c *coder) amounts(a, from *sampling.Amounts) {
	number(c, &a.Missing, from.Missing)
	number(c, &a.Low, from.Low)
	number(c, &a.Proven, from.Proven)
	c.float(&a.Spread.Variance, from.Spread.Variance)
	c.float(&a.Spread.Largest, from.Spread.Largest)
}

// number codes a number as its wrapping difference from another: a small difference of
// either sign is a small word.
func number[T ~int64](c *coder, v *T, from T) {
	difference := int64(*v - from)
	word := uint64(difference<<1 ^ difference>>63)
	if c.word(&word); c.reading {
		*v = from + T(int64(word>>1)^-int64(word&1))
	}
}

// float codes the bits that differ between two floats: a round float has its bits at the
// end of the word.
func (c *coder) float(v *float64, from float64) {
	word := bits.Reverse64(math.Float64bits(*v) ^ math.Float64bits(from))
	if c.word(&word); c.reading {
		*v = math.Float64frombits(bits.Reverse64(word) ^ math.Float64bits(from))
	}
}

func (c *coder) flag(v *bool) {
	word := uint64(0)
	if *v {
		word = 1
	}
	c.word(&word)
	*v = word != 0
}

func (c *coder) word(v *uint64) {
	if c.reading {
		*v = c.words[c.n]
	} else {
		c.words[c.n] = *v
	}
	c.n++
}
