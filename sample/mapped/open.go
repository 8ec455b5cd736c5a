package mapped

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-logfmt/logfmt"
	"github.com/klauspost/compress/gzip"
)

const (
	// maxOpened is how deep samples may lie in lists, objects and texts of each other.
	maxOpened = 16
	// maxUnzipped bounds what a compressed text becomes, in bytes.
	maxUnzipped = 16 << 20
	// maxBrackets is the most positions of a line that are tried as JSON.
	maxBrackets = 8
)

// Object is an object of JSON, with its members.
type Object struct {
	Raw     json.RawMessage
	Members map[string]json.RawMessage
}

// Open offers an object to take. If take refuses it, Open offers the objects within: members,
// elements of lists, and JSON in texts, which may be in base64 and compressed, as logs and
// queues pass it on. It reports whether any was taken. Elements without one, in a list in which
// others have one, are passed to left.
func Open(value json.RawMessage, take func(Object) bool, left func(json.RawMessage)) bool {
	return opener{take, left, valueIn}.open(value, maxOpened)
}

// OpenLine is Open for the list that a line is, or the object in it, which may have other text
// around it. It decompresses nothing: who writes a log's line must not make its reader work
// without a bound.
func OpenLine(line []byte, take func(Object) bool) bool {
	value := json.RawMessage(line)
	if !bytes.HasPrefix(line, []byte("[")) || !json.Valid(line) {
		value = objectIn(line)
	}
	return opener{take, func(json.RawMessage) {}, objectIn}.open(value, maxOpened)
}

type opener struct {
	take func(Object) bool
	left func(json.RawMessage)
	// in returns the object or list in a text; nil is none.
	in func(text []byte) json.RawMessage
}

func (o opener) open(value json.RawMessage, depth int) bool {
	value = innerBy(value, o.in)
	if depth == 0 || len(value) == 0 {
		return false
	}
	if value[0] == '[' {
		return o.list(value, depth)
	}
	object := Object{Raw: value}
	if json.Unmarshal(value, &object.Members) != nil {
		return false
	}
	if o.take(object) {
		return true
	}
	taken := false
	for _, name := range slices.Sorted(maps.Keys(object.Members)) {
		taken = o.open(object.Members[name], depth-1) || taken
	}
	return taken
}

func (o opener) list(value json.RawMessage, depth int) (taken bool) {
	if object := objectOfPairs(value); object != nil {
		return o.open(object, depth-1)
	}
	var elements, left []json.RawMessage
	if json.Unmarshal(value, &elements) != nil {
		return false
	}
	for _, element := range elements {
		if o.open(element, depth-1) {
			taken = true
		} else {
			left = append(left, element)
		}
	}
	for _, element := range left {
		if taken {
			o.left(element)
		}
	}
	return taken
}

// objectOfPairs returns the object that a list spells out as pairs, as CloudWatch Logs Insights does:
// [{"field":"a","value":"1"}], or as a time with its line, as Loki does: ["1796040000","{…}"], whose
// members are called 0 and 1. It returns nil for any other list.
func objectOfPairs(list json.RawMessage) json.RawMessage {
	var texts []string
	if json.Unmarshal(list, &texts) == nil {
		if len(texts) != 2 || objectIn([]byte(texts[1])) == nil {
			return nil
		}
		raw, _ := json.Marshal(map[string]string{"0": texts[0], "1": texts[1]}) // texts always encode
		return raw
	}
	var pairs []struct {
		Field *string         `json:"field"`
		Value json.RawMessage `json:"value"`
	}
	if !bytes.Contains(list[:min(len(list), 64)], []byte(`"field"`)) || json.Unmarshal(list, &pairs) != nil {
		return nil
	}
	object := map[string]json.RawMessage{}
	for _, pair := range pairs {
		if pair.Field == nil || pair.Value == nil {
			return nil
		}
		object[*pair.Field] = pair.Value
	}
	raw, _ := json.Marshal(object) // of valid JSON
	return raw
}

// inner returns the object or list that a value is, or that is in its text. Nil is none.
func inner(value json.RawMessage) json.RawMessage { return innerBy(value, valueIn) }

func innerBy(value json.RawMessage, in func(text []byte) json.RawMessage) json.RawMessage {
	value = present(value)
	if len(value) == 0 || value[0] == '{' || value[0] == '[' {
		return value
	}
	text, isText := textOf(value)
	if !isText {
		return nil
	}
	return in([]byte(text))
}

// valueIn returns the object or list in a text, which may have other text around it, be in base64,
// or be compressed. Nil is none.
func valueIn(text []byte) json.RawMessage {
	text = bytes.TrimSpace(text)
	if bytes.HasPrefix(text, []byte("[")) && json.Valid(text) {
		return text
	}
	if object := objectIn(text); object != nil {
		return object
	}
	const shortest = 12 // {"a":1} in base64; it begins with e, a list with W, and what is compressed with H
	if len(text) < shortest || len(text)%4 != 0 || strings.IndexByte("eWH", text[0]) < 0 {
		return nil
	}
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(raw, text)
	if err != nil {
		return nil
	}
	raw = raw[:n]
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil
		}
		if raw, err = io.ReadAll(io.LimitReader(z, maxUnzipped)); err != nil {
			return nil
		}
	}
	return objectIn(bytes.TrimSpace(raw))
}

// objectIn returns the JSON object in a line, which may have other text around it, or nil.
func objectIn(line []byte) json.RawMessage {
	end := bytes.LastIndexByte(line, '}') + 1
	from := 0
	for range maxBrackets {
		next := bytes.IndexByte(line[from:], '{')
		if next < 0 || from+next >= end {
			break
		}
		if from += next; json.Valid(line[from:end]) {
			return line[from:end]
		}
		from++
	}
	return nil
}

// colours are the codes with which loggers colour a terminal.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// fewestPairs is how many pairs make a line one of logfmt.
const fewestPairs = 3

// logfmtIn returns the pairs of a line such as time=12:00 table=orders pk="a b" as an object, or
// nil. Other words may be between them.
func logfmtIn(line []byte) json.RawMessage {
	line = colours.ReplaceAll(line, nil)
	if bytes.Count(line, []byte("=")) < fewestPairs {
		return nil
	}
	pairs := map[string]string{}
	d := logfmt.NewDecoder(bytes.NewReader(line))
	for d.ScanRecord() {
		for d.ScanKeyval() {
			if d.Value() != nil {
				pairs[string(d.Key())] = string(d.Value())
			}
		}
	}
	if d.Err() != nil || len(pairs) < fewestPairs {
		return nil
	}
	raw, _ := json.Marshal(pairs) // texts always encode
	return raw
}
