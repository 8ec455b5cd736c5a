// Package redact shows what is wrong with a bad sample without showing what it holds.
package redact

import (
	"bytes"
	"strconv"
)

// shown are the words that a redacted excerpt keeps: the names of the fields
// of Keyheat JSON, and those by which AWS's records are known, where they stand
// as a name; and JSON's own words. Everything else may be a key.
var (
	shownNames = words("ts", "table", "index", "pk", "sk", "op", "rcu", "wcu", "bytes", "read", "throttle",
		"rate", "n", "caller", "account", "region", "id", "attrs", "S", "N", "B",
		"Records", "dynamodb", "eventName", "eventSource", "Keys", "NewImage", "OldImage", "requestParameters")
	shownWords = words("true", "false", "null")
)

func words(all ...string) map[string]bool {
	set := make(map[string]bool, len(all))
	for _, w := range all {
		set[w] = true
	}
	return set
}

// maxExcerpt is how many bytes of a bad sample are described.
const maxExcerpt = 128

// Excerpt returns the structure of a bad sample's beginning without its content: a
// text is replaced by its length in bytes, as in "<12>", a number's digits by
// zeros. The names of known fields stay; others do not, since they may be keys. It
// takes any bytes.
func Excerpt(raw []byte) string {
	raw = raw[:min(len(raw), maxExcerpt)]
	var out []byte
	for len(raw) > 0 {
		n := tokenLength(raw)
		out = appendRedacted(out, raw[:n], raw[n:])
		raw = raw[n:]
	}
	return string(out)
}

// tokenLength returns how many bytes of raw belong together.
func tokenLength(raw []byte) int {
	switch kind := classify(raw[0]); kind {
	case quote:
		return textLength(raw)
	case structure:
		return 1
	default:
		n := 1
		for n < len(raw) && classify(raw[n]) == kind {
			n++
		}
		return n
	}
}

// textLength returns the length of the string that begins raw, with its quotes; of
// all the rest when it does not end.
func textLength(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

func appendRedacted(out, token, rest []byte) []byte {
	switch classify(token[0]) {
	case structure:
		return append(out, token...)
	case quote:
		text := bytes.Trim(token, `"`)
		if shownNames[string(text)] && bytes.HasPrefix(bytes.TrimLeft(rest, " \t"), []byte(":")) {
			return append(append(append(out, '"'), text...), '"')
		}
		return append(appendLength(append(out, '"'), len(text)), '"')
	case digit:
		return append(out, bytes.Repeat([]byte("0"), len(token))...)
	}
	if shownWords[string(token)] {
		return append(out, token...)
	}
	return appendLength(out, len(token))
}

func appendLength(out []byte, n int) []byte {
	return append(strconv.AppendInt(append(out, '<'), int64(n), 10), '>')
}

// class is what a byte of a sample is part of.
type class int

const (
	other class = iota
	structure
	quote
	digit
)

func classify(b byte) class {
	switch {
	case b == '"':
		return quote
	case b >= '0' && b <= '9':
		return digit
	case bytes.IndexByte([]byte("{}[]:, \t\r\n+-."), b) >= 0:
		return structure
	}
	return other
}
