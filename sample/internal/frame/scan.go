package frame

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/keyheat/keyheat/sample"
)

// end returns the end of the value at the start of text, by brackets and quotes alone. It stops
// at certain faults (a line end within a string, too many brackets), so that broken lines are
// not read again and again.
func end(text []byte) (int, sample.RejectReason) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
			if !quoted && depth == 0 {
				return i + 1, ""
			}
		case quoted && b == '\n':
			return 0, sample.RejectSyntax
		case quoted:
		case b == '{' || b == '[':
			if depth++; depth > maxDepth {
				return 0, sample.RejectTooDeep
			}
		case (b == '}' || b == ']') && depth > 1:
			depth--
		case (b == '}' || b == ']') && depth == 1:
			return i + 1, ""
		case depth == 0 && ends(b):
			return i, ""
		}
	}
	if depth > 0 || quoted {
		return 0, sample.RejectSyntax
	}
	return len(text), ""
}

// ends reports whether the byte ends a number or a word.
func ends(b byte) bool {
	switch b {
	case ',', ']', '}', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// halfPair reports whether valid JSON has an escape of half a surrogate pair. encoding/json
// would decode it as U+FFFD, and two different keys would become equal.
func halfPair(raw []byte) bool {
	for i := 0; i+1 < len(raw); i++ {
		switch {
		case raw[i] != '\\':
		case raw[i+1] != 'u':
			i++
		default:
			_, n := UnicodeEscape(raw[i:])
			if n == 0 {
				return true
			}
			i += n - 1
		}
	}
	return false
}

// UnicodeEscape reads \uXXXX, or a surrogate pair of two, at the start of s. It returns the
// number of bytes read, 0 for half a pair.
func UnicodeEscape(s []byte) (rune, int) {
	r, _ := Hex4(s[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(s) < 12 || s[6] != '\\' || s[7] != 'u' {
		return 0, 0
	}
	low, _ := Hex4(s[8:])
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// Hex4 reads four hexadecimal digits at the start of s.
func Hex4(s []byte) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[:4]), 16, 16)
	return rune(n), err == nil
}
