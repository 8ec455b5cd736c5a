package keyheatjson

import (
	"math"
	"strconv"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/decimal"
)

// wholeNumber reads a field with a whole number in any notation: 2, 2.0, 2e0.
func (d *Decoder) wholeNumber(f field) (int64, bool) {
	v := d.given[f]
	if v.kind != kindNumber {
		return 0, false
	}
	if n, ok := plainInteger(d.src[v.start:v.end]); ok {
		return n, true
	}
	dec, ok := decimal.Parse(alias(d.src[v.start:v.end]))
	if !ok {
		return 0, false
	}
	n, exact, ok := dec.Scale(0)
	return n, exact && ok
}

// milli reads a field with an amount of units. It rounds to the nearest thousandth, but never
// to zero.
func (d *Decoder) milli(f field) (sample.Milli, bool) {
	v := d.given[f]
	if v.kind != kindNumber {
		return 0, false
	}
	if n, ok := plainInteger(d.src[v.start:v.end]); ok && n <= int64(sample.MaxUnits) {
		return sample.Milli(n) * 1000, true
	}
	dec, ok := decimal.Parse(alias(d.src[v.start:v.end]))
	if !ok {
		return 0, false
	}
	n, _, ok := dec.Scale(3)
	switch {
	case n != 0 || dec.Digits == "":
	case dec.Negative:
		n = -1
	default:
		n = 1
	}
	return sample.Milli(n), ok
}

// plainInteger reads up to 18 digits without anything else.
func plainInteger(text []byte) (int64, bool) {
	if len(text) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range text {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	return n, true
}

// float reads a field with a number, as the nearest float64.
func (d *Decoder) float(f field) (float64, bool) {
	v := d.given[f]
	if v.kind != kindNumber {
		return 0, false
	}
	text := d.src[v.start:v.end]
	if digits := len(text) - 2; digits > 0 && digits <= 15 && text[0] == '0' {
		// 0.01 is 1/100: both are exact, so only the division rounds, once.
		if n, ok := plainInteger(text[2:]); ok && text[1] == '.' {
			return float64(n) / math.Pow10(digits), true
		}
	}
	n, err := strconv.ParseFloat(alias(text), 64)
	return n, err == nil
}
