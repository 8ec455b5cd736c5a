// Package decimal reads decimal numbers exactly, as DynamoDB keeps them, without converting
// them to floats.
package decimal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// DynamoDB's numbers have up to MaxDigits significant digits, and are zero or have a magnitude
// from 1E-130 to 9.99…E+125. Source: Developer Guide, "Supported data types and naming rules",
// Number.
const (
	// MaxDigits is the most significant digits of a number.
	MaxDigits    = 38
	minMagnitude = -130
	maxMagnitude = 125
)

var (
	errTooPrecise = fmt.Errorf("more than %d significant digits", MaxDigits)
	errOutOfRange = errors.New("magnitude outside 1E-130 to 9.99E+125")
)

// Decimal is an exact decimal number: its significant digits, and the power of ten of the first
// digit.
type Decimal struct {
	Negative bool
	// Digits neither begin nor end with zero, and are empty for zero. They may include the
	// decimal point.
	Digits string
	// Count is the number of significant digits.
	Count     int
	magnitude int64
}

// Parse reads [+-]digits[.digits][e[+-]digits]. It needs a digit on one side of the point. It
// allocates nothing.
func Parse(text string) (Decimal, bool) {
	var d Decimal
	if text != "" && (text[0] == '-' || text[0] == '+') {
		d.Negative = text[0] == '-'
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

// parseExponent saturates far beyond the length of any text. Unlike strconv, it checks the
// characters behind too many digits.
func parseExponent(text string) (int64, bool) {
	if strings.Trim(text, "+-0123456789") != "" {
		return 0, false
	}
	e, err := strconv.ParseInt(text, 10, 64)
	return min(max(e, -1<<48), 1<<48), err == nil || errors.Is(err, strconv.ErrRange) && strings.LastIndexAny(text, "+-") <= 0
}

// checkMantissa returns the position of the point, or the end without a point.
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

// trim keeps the significant digits of a mantissa with its point at a position.
func (d *Decimal) trim(mantissa string, point int) {
	first := strings.IndexAny(mantissa, "123456789")
	if first < 0 {
		return
	}
	last := strings.LastIndexAny(mantissa, "123456789")
	d.Digits = mantissa[first : last+1]
	d.Count = len(d.Digits)
	if first < point && point < last {
		d.Count-- // the point is not a digit
	}
	d.magnitude = int64(point - first)
	if first < point {
		d.magnitude--
	}
}

// Fits returns an error if DynamoDB cannot hold the number.
func (d *Decimal) Fits() error {
	switch {
	case d.Digits == "":
		return nil
	case d.Count > MaxDigits:
		return errTooPrecise
	case d.magnitude < minMagnitude || d.magnitude > maxMagnitude:
		return errOutOfRange
	}
	return nil
}

// String returns the canonical form of a number that fits.
func (d *Decimal) String() string {
	if d.Digits == "" {
		return "0"
	}
	var b strings.Builder
	if d.Negative {
		b.WriteByte('-')
	}
	if d.magnitude < 0 {
		b.WriteString("0.")
		writeZeros(&b, -d.magnitude-1)
	}
	whole := d.magnitude + 1 // digits left before the point
	for i := range len(d.Digits) {
		if d.Digits[i] == '.' {
			continue
		}
		if whole == 0 && d.magnitude >= 0 {
			b.WriteByte('.')
		}
		b.WriteByte(d.Digits[i])
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

// Scale returns the number times 10^places, rounded to the nearest whole number (half upwards),
// and whether it was exact. ok is false for more than 18 digits.
func (d *Decimal) Scale(places int64) (v int64, exact, ok bool) {
	if d.Digits == "" {
		return 0, true, true
	}
	whole := d.magnitude + 1 + places
	if whole > 18 {
		return 0, false, false
	}
	exact = true
	roundUp := false
	for i := range len(d.Digits) {
		if d.Digits[i] == '.' {
			continue
		}
		if whole > 0 {
			v = v*10 + int64(d.Digits[i]-'0')
		} else {
			roundUp = roundUp || whole == 0 && d.Digits[i] >= '5'
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
	if d.Negative {
		v = -v
	}
	return v, exact, true
}
