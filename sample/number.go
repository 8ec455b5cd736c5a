package sample

import (
	"errors"
	"fmt"
	"strings"
)

// DynamoDB's numbers: up to 38 significant digits, zero, or a magnitude from
// 1E-130 to 9.99…E+125. Source: Developer Guide, "Supported data types and
// naming rules", Number.
const (
	maxDigits    = 38
	minMagnitude = -130
	maxMagnitude = 125
)

var (
	errNotNumber  = errors.New("not a decimal number")
	errTooPrecise = fmt.Errorf("more than %d significant digits", maxDigits)
	errOutOfRange = errors.New("magnitude outside 1E-130 to 9.99E+125")
)

// KeyNumber is the key of a number attribute in its canonical form: plain
// decimal, as DynamoDB itself writes numbers, without exponent, plus sign,
// leading zeros, or trailing zeros behind the point; zero is "0". So 42, 42.0
// and 4.2e1 are one key. The text is never taken through a float. A number
// that DynamoDB cannot hold is an error.
func KeyNumber(text string) (Key, error) {
	if isCanonicalInteger(text) {
		return Key{Type: typeNumber, Text: text}, nil
	}
	d, ok := parseDecimal(text)
	if !ok {
		return Key{}, fmt.Errorf("number key %.64q: %w", text, errNotNumber)
	}
	if err := d.fits(); err != nil {
		return Key{}, fmt.Errorf("number key %.64q: %w", text, err)
	}
	return Key{Type: typeNumber, Text: d.String()}, nil
}

// NumberSize returns how many bytes DynamoDB counts for a number attribute's
// value: about one for each two significant digits, and one more. Leading and
// trailing zeros are not significant. A text that is no number counts as zero
// does. Source: Developer Guide, "DynamoDB item sizes and formats", which says
// "approximately", and "Supported data types and naming rules", Number: "Leading
// and trailing zeroes are trimmed."
func NumberSize(text string) int64 {
	d, _ := parseDecimal(text)
	return int64(d.count+1)/2 + 1
}

// isCanonicalInteger reports whether the text is a whole number as KeyNumber
// writes it, as most keys are.
func isCanonicalInteger(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || digits[0] == '0' || len(digits) > maxDigits {
		return text == "0"
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// decimal is a decimal number without loss: its significant digits, and the
// power of ten of the first of them.
type decimal struct {
	negative bool
	// digits neither begin nor end in zero; they are empty for zero. They may
	// hold a point, which is no digit.
	digits    string
	count     int
	magnitude int64
}

// parseDecimal reads [+-]digits[.digits][e[+-]digits], where a digit is needed
// on one side of the point. It allocates nothing.
func parseDecimal(text string) (decimal, bool) {
	var d decimal
	if text != "" && (text[0] == '-' || text[0] == '+') {
		d.negative = text[0] == '-'
		text = text[1:]
	}
	mantissa := text
	var exponent int64
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		var ok bool
		if exponent, ok = parseExponent(text[e+1:]); !ok {
			return d, false
		}
		mantissa = text[:e]
	}
	point, ok := checkMantissa(mantissa)
	if !ok {
		return d, false
	}
	d.trim(mantissa, point)
	d.magnitude += exponent
	return d, true
}

// parseExponent saturates far beyond any length that a text can have.
func parseExponent(text string) (int64, bool) {
	negative := false
	if text != "" && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	if text == "" {
		return 0, false
	}
	var e int64
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		e = min(e*10+int64(text[i]-'0'), 1<<48)
	}
	if negative {
		e = -e
	}
	return e, true
}

// checkMantissa answers where the point is, or would be.
func checkMantissa(mantissa string) (point int, ok bool) {
	point = len(mantissa)
	digits := 0
	for i := range len(mantissa) {
		switch c := mantissa[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' && point == len(mantissa):
			point = i
		default:
			return 0, false
		}
	}
	return point, digits > 0
}

// trim keeps the significant digits of a mantissa whose point is known.
func (d *decimal) trim(mantissa string, point int) {
	first := strings.IndexAny(mantissa, "123456789")
	if first < 0 {
		return
	}
	last := strings.LastIndexAny(mantissa, "123456789")
	d.digits = mantissa[first : last+1]
	d.count = len(d.digits)
	if first < point && point < last {
		d.count-- // the point
	}
	d.magnitude = int64(point - first)
	if first < point {
		d.magnitude--
	}
}

// fits says why DynamoDB cannot hold the number.
func (d *decimal) fits() error {
	switch {
	case d.digits == "":
		return nil
	case d.count > maxDigits:
		return errTooPrecise
	case d.magnitude < minMagnitude || d.magnitude > maxMagnitude:
		return errOutOfRange
	}
	return nil
}

// String is the canonical form of a number that fits.
func (d *decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	var b strings.Builder
	if d.negative {
		b.WriteByte('-')
	}
	if d.magnitude < 0 {
		b.WriteString("0.")
		writeZeros(&b, -d.magnitude-1)
	}
	whole := d.magnitude + 1 // digits still to come before the point
	for i := range len(d.digits) {
		if d.digits[i] == '.' {
			continue
		}
		if whole == 0 && d.magnitude >= 0 {
			b.WriteByte('.')
		}
		b.WriteByte(d.digits[i])
		whole--
	}
	writeZeros(&b, whole)
	return b.String()
}

func writeZeros(b *strings.Builder, n int64) {
	for ; n > 0; n-- {
		b.WriteByte('0')
	}
}

// scaled is the number times ten to the places, rounded to the nearest whole
// number (a half upwards), and whether that was exact. It answers false when
// the result has more than 18 digits.
func (d *decimal) scaled(places int64) (v int64, exact, ok bool) {
	if d.digits == "" {
		return 0, true, true
	}
	whole := d.magnitude + 1 + places
	if whole > 18 {
		return 0, false, false
	}
	exact = true
	roundUp := false
	for i := range len(d.digits) {
		if d.digits[i] == '.' {
			continue
		}
		if whole > 0 {
			v = v*10 + int64(d.digits[i]-'0')
		} else {
			roundUp = roundUp || whole == 0 && d.digits[i] >= '5'
			exact = false
		}
		whole--
	}
	for ; whole > 0; whole-- {
		v *= 10
	}
	if roundUp {
		v++
	}
	if d.negative {
		v = -v
	}
	return v, exact, true
}
