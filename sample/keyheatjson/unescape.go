package keyheatjson

import (
	"unicode/utf8"

	"github.com/keyheat/keyheat/sample/internal/frame"
)

// appendUnescaped appends the text of a checked JSON string with escapes. It returns false for
// half a surrogate pair: encoding/json would decode it as U+FFFD, and two different keys would
// become equal.
func appendUnescaped(dst, s []byte) ([]byte, bool) {
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			i++
			continue
		}
		if s[i+1] != 'u' {
			dst = append(dst, unescapeLetter(s[i+1]))
			i += 2
			continue
		}
		r, n := frame.UnicodeEscape(s[i:])
		if n == 0 {
			return dst, false
		}
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst, true
}

// unescapeLetter returns the byte that an escape with this letter encodes.
func unescapeLetter(letter byte) byte {
	switch letter {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return letter
}
