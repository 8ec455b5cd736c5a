package keyheatjson

import (
	"encoding/binary"
	"math/bits"

	"github.com/keyheat/keyheat/sample"
)

// eight parses the decimal digits at the start of eight bytes at once, and returns how many
// there are. After "Faster integer parsing" by Johnny Lee and Daniel Lemire.
func eight(w uint64) (n int64, digits int) {
	w ^= lanes * '0'
	marks := (w + lanes*(0x80-10) | w) & tops // the lowest mark is exact
	digits = bits.TrailingZeros64(marks) >> 3
	w <<= (64 - 8*digits) & 63
	if digits == 0 {
		return 0, 0
	}
	w = w*10 + w>>8
	const pairs = 0x000000ff000000ff
	return int64((w&pairs*(100+1000000<<32) + w>>16&pairs*(1+10000<<32)) >> 32), digits
}

// tens are the powers of ten up to seven digits.
var tens = [8]int64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000}

// digitsAt reads a whole number of up to 15 digits, and returns its end. It returns false for a
// longer number, a leading zero, another value, or too close to the end of the message.
func (d *Decoder) digitsAt(pos int) (n int64, end int, ok bool) {
	src := d.src
	if pos+1 < len(src) && src[pos+1]-'0' > 9 {
		n := int64(src[pos] - '0')
		return n, pos + 1, n <= 9
	}
	if pos+8 > len(src) {
		return 0, 0, false
	}
	n, digits := eight(binary.LittleEndian.Uint64(src[pos:]))
	if digits == 8 {
		if pos+16 > len(src) {
			return 0, 0, false
		}
		low, more := eight(binary.LittleEndian.Uint64(src[pos+8:]))
		if more == 8 {
			return 0, 0, false
		}
		n, digits = n*tens[more]+low, 8+more
	}
	return n, pos + digits, digits == 1 || digits > 0 && src[pos] != '0'
}

// readTime reads a time. Its first eight digits are usually equal to the last record's.
func (d *Decoder) readTime(s *step) (int64, bool) {
	src, pos := d.src, d.pos
	if pos+16 > len(src) {
		return d.readWhole(s.field)
	}
	first := binary.LittleEndian.Uint64(src[pos:])
	if first == s.first && s.high > 0 {
		low, digits := eight(binary.LittleEndian.Uint64(src[pos+8:]))
		if end := pos + 8 + digits; digits < 8 && !continues(src[end]) {
			d.pos = end
			return s.high*tens[digits] + low, true
		}
	}
	n, ok := d.readWhole(s.field)
	// JSON forbids leading zeros: the number would end behind the zero.
	if high, digits := eight(first); ok && digits == 8 && src[pos] != '0' {
		s.first, s.high = first, high
	}
	return n, ok
}

// readWhole reads a field with a whole number.
func (d *Decoder) readWhole(f field) (int64, bool) {
	if n, end, ok := d.digitsAt(d.pos); ok && !continues(d.src[end]) {
		d.pos = end
		return n, true
	}
	d.given[f] = d.value()
	n, ok := d.wholeNumber(f)
	return n, ok && d.reason == ""
}

// readMilli reads a field with an amount of units.
func (d *Decoder) readMilli(f field) (sample.Milli, bool) {
	if n, end, ok := d.digitsAt(d.pos); ok && n <= int64(sample.MaxUnits) {
		amount := sample.Milli(n) * 1000
		if !continues(d.src[end]) {
			d.pos = end
			return amount, true
		}
		// Half a unit is a common price of a read.
		if end+2 < len(d.src) && d.src[end] == '.' && d.src[end+1] == '5' && !continues(d.src[end+2]) {
			d.pos = end + 2
			return amount + 500, true
		}
	}
	d.given[f] = d.value()
	n, ok := d.milli(f)
	return n, ok && d.reason == ""
}

// continues reports whether the byte belongs to a number.
func continues(b byte) bool { return b-'0' <= 9 || b == '.' || b|0x20 == 'e' }

// sameNumber reads a number that is usually equal to the number of the record before.
func (d *Decoder) sameNumber(s *step) bool {
	start, end := d.pos, d.pos+len(s.last.text)
	if end > start && end < len(d.src) && s.last.stands(d.src, start) && !continues(d.src[end]) {
		d.pos, *s.float = end, s.number
		return true
	}
	d.given[s.field] = d.value()
	n, ok := d.float(s.field)
	ok = ok && d.reason == "" && (s.field != fieldCalls || n > 0) // every request comes from a call
	if s.last.text = s.last.text[:0]; ok && d.pos-start <= maxLast {
		s.last.set(d.src[start:d.pos])
		s.number = n
	}
	*s.float = n
	return ok
}
