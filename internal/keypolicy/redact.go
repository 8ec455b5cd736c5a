package keypolicy

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// shown are the words that a redacted excerpt keeps: the field names of Keyheat JSON and
// of AWS's records, where they stand as names, and JSON's own words. Any other text may
// be a key.
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
		n := token.FindIndex(raw)[1] // every byte begins a token
		out = appendRedacted(out, raw[:n], raw[n:])
		raw = raw[n:]
	}
	return string(out)
}

// structure are the bytes that are shown as they are; the dash is last, since it means
// a range elsewhere in a class of an expression.
const structure = "{}[]:, \t\r\n+.-"

// token is a string with its quotes, or all the rest when it does not end; a number's
// digits; one byte of structure; or anything else that belongs together.
var token = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.?)*"?|[0-9]+|[` + regexp.QuoteMeta(structure) + `]|[^"0-9` + regexp.QuoteMeta(structure) + `]+`)

func appendRedacted(out, token, rest []byte) []byte {
	switch first := token[0]; {
	case strings.IndexByte(structure, first) >= 0:
		return append(out, token...)
	case first == '"':
		text := bytes.Trim(token, `"`)
		if shownNames[string(text)] && bytes.HasPrefix(bytes.TrimLeft(rest, " \t"), []byte(":")) {
			return append(append(append(out, '"'), text...), '"')
		}
		return append(appendLength(append(out, '"'), len(text)), '"')
	case first >= '0' && first <= '9':
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
