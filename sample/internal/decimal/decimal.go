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
	// Digits neither begin nor end with zero, and are empty for zero.
	Digits    string
	magnitude int64
}

// Parse reads [+-]digits[.digits][e[+-]digits]. It needs a digit on one side of the point.
func Parse(text string) (Decimal, bool) {
	var d Decimal
	if text != "" && (text[0] == '-' || text[0] == '+') {
		d.Negative = text[0] == '-'
		text = text[1:]
	}
	var exponent int64
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		var ok bool
		if exponent, ok = parseExponent(text[e+1:]); !ok {
			return d, false
		}
		text = text[:e]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if text == "" || text == "." || strings.Trim(whole, "0123456789")+strings.Trim(fraction, "0123456789") != "" {
		return d, false
	}
	// Nearly every number has one of both parts left, so that nothing is copied.
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	digits := whole + fraction
	d.Digits = strings.Trim(digits, "0")
	d.magnitude = int64(len(whole)-1-len(digits)+len(strings.TrimLeft(digits, "0"))) + exponent
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

// Fits returns an error if DynamoDB cannot hold the number.
func (d *Decimal) Fits() error {
	switch {
	case d.Digits == "":
		return nil
	case len(d.Digits) > MaxDigits:
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
	sign := ""
	if d.Negative {
		sign = "-"
	}
	whole := int(d.magnitude) + 1 // digits before the point
	switch n := len(d.Digits); {
	case whole <= 0:
		return sign + "0." + strings.Repeat("0", -whole) + d.Digits
	case whole >= n:
		return sign + d.Digits + strings.Repeat("0", whole-n)
	}
	return sign + d.Digits[:whole] + "." + d.Digits[whole:]
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
	for i := range whole {
		v *= 10
		if i < int64(len(d.Digits)) {
			v += int64(d.Digits[i] - '0')
		}
	}
	if whole >= 0 && whole < int64(len(d.Digits)) && d.Digits[whole] >= '5' {
		v++
	}
	if d.Negative {
		v = -v
	}
	return v, whole >= int64(len(d.Digits)), true
}
