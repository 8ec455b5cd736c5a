package model

import (
	"strconv"
	"strings"
)

// Size is the item's size in bytes by the Developer Guide, "DynamoDB item sizes
// and formats": each name in UTF-8, and its value.
func (i Item) Size() int {
	total := 0
	for name, v := range i {
		total += len(name) + v.size()
	}
	return total
}

func (v Value) size() int {
	total := 0
	switch {
	case v.S != nil:
		return len(*v.S)
	case v.N != nil:
		return numberSize(*v.N)
	case v.B != nil:
		return len(v.B)
	case v.BOOL != nil, v.NULL != nil:
		return 1
	case v.L != nil:
		total = 3 // of every list and map
		for _, e := range v.L {
			total += 1 + e.size()
		}
	case v.M != nil:
		total = 3 + len(v.M) + Item(v.M).Size()
	}
	for _, s := range v.SS {
		total += len(s)
	}
	for _, n := range v.NS {
		total += numberSize(n)
	}
	for _, b := range v.BS {
		total += len(b)
	}
	return total
}

// numberSize is "approximately (length of attribute name) + (1 byte per two
// significant digits) + (1 byte)", the name being counted elsewhere.
func numberSize(text string) int {
	digits, _, _, _ := decimal(text)
	return (len(digits)+1)/2 + 1
}

// decimal takes a number apart: its significant digits, of which the first
// `point` stand before the decimal point. Zero has no digits.
func decimal(text string) (digits string, point int, negative, ok bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil {
			return "", 0, false, false
		}
	}
	mantissa, negative = strings.CutPrefix(strings.TrimPrefix(mantissa, "+"), "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", 0, false, false
	}
	point = len(whole) + shift
	short := strings.TrimLeft(digits, "0")
	point -= len(digits) - len(short)
	return strings.TrimRight(short, "0"), point, negative, true
}
