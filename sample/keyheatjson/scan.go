package keyheatjson

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
)

// MaxDepth is the deepest nesting of JSON in one record. It bounds the decoder's stack.
const MaxDepth = 32

// kind is the kind of a JSON value.
type kind uint8

const (
	kindNone kind = iota
	kindString
	kindEscaped // a string with a backslash in it
	kindNumber
	kindBool
	kindNull
	kindObject
	kindArray
)

// value is the position of a valid JSON value in the message, without the quotes of a string.
type value struct {
	start, end int
	kind       kind
}

// cursor checks and walks JSON in one pass. At the first error it notes the reject reason and
// stops. Its later results are meaningless.
type cursor struct {
	src    []byte
	pos    int
	depth  int
	reason sample.RejectReason
}

func (c *cursor) fail(r sample.RejectReason) {
	if c.reason == "" {
		c.reason = r
	}
}

// blank skips white space. Compact JSON has none, so the call must cost only one comparison.
func (c *cursor) blank() {
	if c.pos < len(c.src) && c.src[c.pos] <= ' ' {
		c.skipBlank()
	}
}

func (c *cursor) skipBlank() {
	for c.pos < len(c.src) && isBlank(c.src[c.pos]) {
		c.pos++
	}
}

func isBlank(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

// take skips a byte if it comes next.
func (c *cursor) take(b byte) bool {
	if c.pos < len(c.src) && c.src[c.pos] == b {
		c.pos++
		return true
	}
	return false
}

// value checks the value at the cursor and moves behind it.
func (c *cursor) value() value {
	if c.pos >= len(c.src) {
		c.fail(sample.RejectSyntax)
		return value{}
	}
	start := c.pos
	switch b := c.src[start]; b {
	case '"':
		return c.scanQuoted()
	case '{':
		c.object(nil)
		return value{start, c.pos, kindObject}
	case '[':
		c.array(nil)
		return value{start, c.pos, kindArray}
	case 't':
		return c.literal("true", kindBool)
	case 'f':
		return c.literal("false", kindBool)
	case 'n':
		return c.literal("null", kindNull)
	}
	return c.number()
}

// object checks the object at the cursor, and calls visit (if not nil) for each member.
func (c *cursor) object(visit func(name, v value)) {
	c.enter()
	for first := true; c.reason == ""; first = false {
		c.blank()
		if first && c.take('}') {
			break
		}
		name := c.scanQuoted()
		c.blank()
		if !c.take(':') {
			c.fail(sample.RejectSyntax)
		}
		c.blank()
		if c.reason != "" {
			return
		}
		v := c.value()
		if c.reason != "" {
			return
		}
		if visit != nil {
			visit(name, v)
		}
		if c.closes('}') {
			break
		}
	}
	c.depth--
}

// array checks the array at the cursor, and calls visit (if not nil) for each element.
func (c *cursor) array(visit func(v value)) {
	c.enter()
	for first := true; c.reason == ""; first = false {
		c.blank()
		if first && c.take(']') {
			break
		}
		v := c.value()
		if c.reason != "" {
			return
		}
		if visit != nil {
			visit(v)
		}
		if c.closes(']') {
			break
		}
	}
	c.depth--
}

// enter steps over an opening bracket.
func (c *cursor) enter() {
	c.pos++
	if c.depth++; c.depth > MaxDepth {
		c.fail(sample.RejectTooDeep)
	}
}

// closes steps over the closing bracket and returns true, or over a comma and returns false.
func (c *cursor) closes(bracket byte) bool {
	c.blank()
	if c.take(',') {
		return false
	}
	if !c.take(bracket) {
		c.fail(sample.RejectSyntax)
	}
	return true
}

func (c *cursor) literal(word string, k kind) value {
	end := c.pos + len(word)
	if end > len(c.src) || string(c.src[c.pos:end]) != word {
		c.fail(sample.RejectSyntax)
		return value{}
	}
	v := value{c.pos, end, k}
	c.pos = end
	return v
}

// number follows JSON's grammar, without plus signs, leading zeros and bare points.
func (c *cursor) number() value {
	start := c.pos
	c.take('-')
	if !c.take('0') {
		c.digits()
	}
	if c.take('.') {
		c.digits()
	}
	if c.take('e') || c.take('E') {
		if !c.take('-') {
			c.take('+')
		}
		c.digits()
	}
	return value{start, c.pos, kindNumber}
}

// digits reads one or more digits.
func (c *cursor) digits() {
	i := c.pos
	for i < len(c.src) && c.src[i]-'0' <= 9 {
		i++
	}
	if i == c.pos {
		c.fail(sample.RejectSyntax)
	}
	c.pos = i
}

// Eight bytes at a time: a byte repeated in every lane, and the top bits of the lanes.
const (
	lanes = 0x0101010101010101
	tops  = 0x8080808080808080
)

// special marks the bytes in a string that need attention: quotes, backslashes, control
// characters, and bytes beyond ASCII. The lowest mark is exact; higher ones may be false. After
// "Determine if a word has a byte less than n" in Anderson's Bit Twiddling Hacks.
func special(w uint64) uint64 {
	quote := w ^ lanes*'"'
	slash := w ^ lanes*'\\'
	return ((quote-lanes)&^quote | (slash-lanes)&^slash | (w-lanes*' ')&^w | w) & tops
}

// scanQuoted checks the string at the cursor. Decoders spend most of their time here, so plain
// ASCII without escapes has a loop of its own.
func (c *cursor) scanQuoted() value {
	src, start := c.src, c.pos+1
	if start > len(src) || src[start-1] != '"' {
		c.fail(sample.RejectSyntax)
		return value{}
	}
	i := start
	for i+8 <= len(src) {
		marks := special(binary.LittleEndian.Uint64(src[i:]))
		if marks == 0 {
			i += 8
			continue
		}
		if i += bits.TrailingZeros64(marks) >> 3; src[i] == '"' {
			c.pos = i + 1
			return value{start, i, kindString}
		}
		break
	}
	return c.anyQuoted(start, i)
}

// anyQuoted checks a string. Its text begins at start and is plain up to i.
func (c *cursor) anyQuoted(start, i int) value {
	v := value{start: start, kind: kindString}
	ascii := true
	for ; i < len(c.src); i++ {
		switch b := c.src[i]; {
		case b == '"':
			v.end, c.pos = i, i+1
			if !ascii && !utf8.Valid(c.src[start:i]) {
				c.fail(sample.RejectBadUTF8)
			}
			return v
		case b == '\\':
			n := escapeLength(c.src[i:])
			if n == 0 {
				c.fail(sample.RejectSyntax)
				return v
			}
			v.kind = kindEscaped
			i += n - 1
		case b < ' ':
			c.fail(sample.RejectSyntax)
			return v
		case b >= utf8.RuneSelf:
			ascii = false
		}
	}
	c.fail(sample.RejectSyntax)
	return v
}

// escapeLength returns the length of the escape at the start of s, or 0 if JSON has no such
// escape.
func escapeLength(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := frame.Hex4(s[2:]); ok {
			return 6
		}
	}
	return 0
}
