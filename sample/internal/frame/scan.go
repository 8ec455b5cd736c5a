package frame

import (
	"unicode/utf16"

	"github.com/keyheat/keyheat/sample"
)

// end returns where the value that begins text ends, going by brackets and quotes
// alone. It stops at what is no JSON for certain (a line end within a string,
// too many brackets), so that broken lines are not read again and again.
func end(text []byte) (int, sample.Reason) {
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
			return 0, sample.ReasonSyntax
		case quoted:
		case b == '{' || b == '[':
			if depth++; depth > maxDepth {
				return 0, sample.ReasonTooDeep
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
		return 0, sample.ReasonSyntax
	}
	return len(text), ""
}

// ends reports whether a number or a word is over before that byte.
func ends(b byte) bool {
	switch b {
	case ',', ']', '}', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// halfPair reports whether an escape in valid JSON is half a surrogate pair:
// encoding/json would write U+FFFD there, and two different keys would become
// one.
func halfPair(raw []byte) bool {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if i++; raw[i] != 'u' {
			continue
		}
		high := hex4(raw[i+1:])
		i += 4
		if !utf16.IsSurrogate(high) {
			continue
		}
		if len(raw) < i+7 || raw[i+1] != '\\' || raw[i+2] != 'u' ||
			utf16.DecodeRune(high, hex4(raw[i+3:])) == '\uFFFD' {
			return true
		}
		i += 6
	}
	return false
}

// hex4 reads the four hexadecimal digits that valid JSON has there.
func hex4(s []byte) (r rune) {
	for _, c := range s[:4] {
		switch {
		case c >= 'a':
			c -= 'a' - 10
		case c >= 'A':
			c -= 'A' - 10
		default:
			c -= '0'
		}
		r = r<<4 | rune(c)
	}
	return r
}
