// Package frame finds the records in a message of JSON: one object, an array of objects,
// NDJSON, or AWS's {"Records":[…]} around them. Everything else is a bad sample, and does not
// affect the records beside it.
package frame

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/keyheat/keyheat/sample"
)

// maxDepth is the deepest nesting of a record's JSON. DynamoDB allows 32 levels in an
// attribute, with two brackets each, and records wrap them.
const maxDepth = 80

// maxExcerpt is the length in bytes of the excerpt of a bad sample.
const maxExcerpt = 128

// Excerpt returns the beginning of a record, for showing a bad sample.
func Excerpt(raw []byte) []byte { return raw[:min(len(raw), maxExcerpt)] }

// blanks are JSON's white space.
const blanks = " \t\r\n"

// Each calls record for every object of a message that is valid JSON of bounded depth and
// Unicode text. It reports the rest to h as bad samples. After an object that is not JSON, it
// continues with the next line. If that object spans lines, it continues with the next line
// that begins with a brace.
func Each(message []byte, h sample.Handler, record func(raw []byte)) {
	w := walker{h: h, record: record}
	rest := bytes.TrimLeft(bytes.TrimPrefix(message, []byte("\xef\xbb\xbf")), blanks)
	if len(rest) == 0 {
		h.Bad(sample.RejectEmpty, nil)
	}
	for len(rest) > 0 {
		var n int
		switch rest[0] {
		case '{':
			n = w.object(rest)
		case '[':
			n = w.list(rest)
		default:
			n = w.stray(rest)
		}
		rest = bytes.TrimLeft(rest[n:], blanks)
	}
}

type walker struct {
	h      sample.Handler
	record func(raw []byte)
}

func (w *walker) bad(reason sample.RejectReason, raw []byte) {
	w.h.Bad(reason, bytes.TrimRight(Excerpt(raw), "\r\n"))
}

// object reads the object at the start of text, and returns the position to continue from.
func (w *walker) object(text []byte) int {
	n, reason := end(text)
	if reason == "" && !json.Valid(text[:n]) {
		reason = sample.RejectSyntax
	}
	if reason != "" {
		next := NextLine(text)
		w.bad(reason, text[:next])
		if len(bytes.TrimRight(text[:next], blanks)) == 1 {
			return next + LineWith('{', text[next:])
		}
		return next
	}
	var wrapped struct{ Records []json.RawMessage }
	if bytes.Contains(text[:n], []byte(`"Records"`)) && json.Unmarshal(text[:n], &wrapped) == nil && wrapped.Records != nil {
		for _, raw := range wrapped.Records {
			w.element(raw)
		}
		return n
	}
	w.element(text[:n])
	return n
}

// list reads the array at the start of text, up to its end or its first broken element, and
// returns the position to continue from.
func (w *walker) list(text []byte) int {
	at := 1 + blank(text[1:])
	if at < len(text) && text[at] == ']' {
		return at + 1
	}
	for {
		n, reason := end(text[at:])
		if reason == "" && !json.Valid(text[at:at+n]) {
			reason = sample.RejectSyntax
		}
		if reason != "" {
			return w.reject(text, at, reason)
		}
		w.element(text[at : at+n])
		at += n
		at += blank(text[at:])
		switch {
		case at < len(text) && text[at] == ']':
			return at + 1
		case at < len(text) && text[at] == ',':
			at++
			at += blank(text[at:])
		default:
			return w.reject(text, at, sample.RejectSyntax)
		}
	}
}

// reject ends an array at a broken element. It skips the elements in the following lines,
// because they belong to the array.
func (w *walker) reject(text []byte, at int, reason sample.RejectReason) int {
	next := at + NextLine(text[at:])
	if at == next { // it ends there
		at = 0
	}
	w.bad(reason, text[at:next])
	if NextLine(text) == next {
		return next
	}
	return next + LineWith('[', text[next:])
}

// element passes on valid JSON if it is an object of Unicode text.
func (w *walker) element(raw []byte) {
	switch {
	case raw[0] != '{':
		w.bad(sample.RejectNotObject, raw)
	case !utf8.Valid(raw) || halfPair(raw):
		w.bad(sample.RejectBadUTF8, raw)
	default:
		w.record(raw)
	}
}

// stray reads a line that begins with neither an object nor an array.
func (w *walker) stray(text []byte) int {
	n := NextLine(text)
	reason := sample.RejectSyntax
	if json.Valid(text[:n]) {
		reason = sample.RejectNotObject
	}
	w.bad(reason, text[:n])
	return n
}

func blank(text []byte) int { return len(text) - len(bytes.TrimLeft(text, blanks)) }

// NextLine returns the position of the next line.
func NextLine(text []byte) int {
	if n := bytes.IndexByte(text, '\n'); n >= 0 {
		return n + 1
	}
	return len(text)
}

// LineWith returns the position of the first line of text that begins with a byte.
func LineWith(first byte, text []byte) (at int) {
	for at < len(text) && text[at] != first {
		at += NextLine(text[at:])
	}
	return at
}
