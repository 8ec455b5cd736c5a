package sample

import (
	"encoding/base64"
	"strings"
)

// The bytes of a sort key's order. exponentZero is a number's exponent 0.
const (
	numberNegative, numberZero, numberPositive = 0x7f, 0x80, 0x81

	exponentZero = 1 << 14
)

// AppendOrder appends bytes that compare as DynamoDB sorts: a string by its bytes, a
// number by its value, a binary by its own bytes and not by their base64, the
// attributes of a multi-attribute key one by one.
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

// escaped ends a part so that a shorter one comes first and no part runs into the
// next: a zero byte in it becomes 0 255, and its end is 0 1.
func escapeFrom(dst []byte, from int) []byte {
	if strings.IndexByte(string(dst[from:]), 0) >= 0 {
		part := strings.ReplaceAll(string(dst[from:]), "\x00", "\x00\xff")
		dst = append(dst[:from], part...)
	}
	return append(dst, 0, 1)
}

// appendNumber appends a canonical decimal: its sign, its exponent, its digits, and
// an end that sorts before any digit. Of negative numbers all is reversed.
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
				last = len(dst) // zeros at the end have no weight
			}
		}
	}
	return append(dst[:last], reverse)
}
