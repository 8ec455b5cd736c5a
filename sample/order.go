package sample

import (
	"encoding/base64"
	"strings"
)

// The bytes of a sort key's order. exponentZero encodes a number's exponent 0.
const (
	numberNegative, numberZero, numberPositive = 0x7f, 0x80, 0x81

	exponentZero = 1 << 14
)

// AppendOrder appends bytes that compare as DynamoDB sorts: strings by their bytes, numbers by
// value, binaries by their decoded bytes, and multi-attribute keys attribute by attribute.
func (k Key) AppendOrder(dst []byte) []byte {
	if len(k.Type) == 1 {
		return appendOrder(dst, k)
	}
	for _, part := range k.Parts() {
		if part.Type == TypeNumber {
			dst = appendOrder(dst, part)
			continue
		}
		from := len(dst)
		dst = escapeFrom(appendOrder(dst, part), from)
	}
	return dst
}

func appendOrder(dst []byte, k Key) []byte {
	switch k.Type {
	case TypeNumber:
		return appendNumber(dst, k.Text)
	case TypeBinary:
		if decoded, err := base64.StdEncoding.AppendDecode(dst, []byte(k.Text)); err == nil {
			return decoded
		}
	}
	return append(dst, k.Text...)
}

// escapeFrom ends a part so that shorter parts sort first and no part runs into the next. A
// zero byte in the part becomes 0 255, and its end is 0 1.
func escapeFrom(dst []byte, from int) []byte {
	if strings.IndexByte(string(dst[from:]), 0) >= 0 {
		part := strings.ReplaceAll(string(dst[from:]), "\x00", "\x00\xff")
		dst = append(dst[:from], part...)
	}
	return append(dst, 0, 1)
}

// appendNumber appends a canonical decimal: its sign, its exponent, its digits, and an end that
// sorts before any digit. Negative numbers are inverted.
func appendNumber(dst []byte, text string) []byte {
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	whole = strings.TrimLeft(whole, "0")
	exponent := len(whole)
	if whole == "" {
		trimmed := strings.TrimLeft(fraction, "0")
		exponent, fraction = len(trimmed)-len(fraction), trimmed
	}
	if whole == "" && fraction == "" {
		return append(dst, numberZero)
	}
	sign, reverse := byte(numberPositive), byte(0)
	if negative {
		sign, reverse = numberNegative, 0xff
	}
	shifted := exponent + exponentZero
	dst = append(dst, sign, byte(shifted>>8)^reverse, byte(shifted)^reverse)
	last := len(dst)
	for _, part := range [...]string{whole, fraction} {
		for i := range len(part) {
			dst = append(dst, (part[i]-'0'+1)^reverse)
			if part[i] != '0' {
				last = len(dst) // trailing zeros do not count
			}
		}
	}
	return append(dst[:last], reverse)
}
