package mapped

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// appendValue appends a value in the form that Keyheat JSON wants for a field. What cannot
// be is appended as it is, so that the sample is a bad one with the field's reason.
func (d *Decoder) appendValue(dst []byte, k kind, raw json.RawMessage) []byte {
	text, isText := textOf(raw)
	switch k {
	case kindTime:
		if ms, ok := d.millis(text); ok {
			return strconv.AppendInt(dst, ms, 10)
		}
		return append(dst, `"no time"`...)
	case kindNumber:
		if text = strings.TrimSpace(text); isText && json.Valid([]byte(text)) && text[0] != '"' && text[0] != '{' && text[0] != '[' {
			return append(dst, text...)
		}
	case kindBool:
		if text == "true" || text == "false" {
			return append(dst, text...)
		}
	case kindOp:
		return appendText(dst, operation(text))
	case kindText:
		if first := raw[0]; first != '{' && first != '[' {
			return appendText(dst, text)
		}
	}
	return append(dst, raw...)
}

// textOf returns the text of a JSON string, and any other value's JSON.
func textOf(raw json.RawMessage) (text string, isText bool) {
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	return string(raw), false
}

// appendText appends a JSON string.
func appendText(dst []byte, text string) []byte {
	raw, err := json.Marshal(text)
	if err != nil { // of a string there is none
		return append(dst, `""`...)
	}
	return append(dst, raw...)
}

// layouts are the forms of times that are texts. Without a zone they are UTC: hot keys
// are found alike whatever the zone is.
var layouts = []string{
	time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05 MST",
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "02/Jan/2006:15:04:05 -0700",
}

// millis returns a time in Unix milliseconds.
func (d *Decoder) millis(text string) (int64, bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		switch d.mapping.Unit {
		case Seconds:
			return n * 1000, n < math.MaxInt64/1000 && n > math.MinInt64/1000
		case Microseconds:
			return n / 1000, true
		case Nanoseconds:
			return n / 1_000_000, true
		}
		return n, true
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		v *= map[Unit]float64{Seconds: 1e3, Microseconds: 1e-3, Nanoseconds: 1e-6, Milliseconds: 1, "": 1}[d.mapping.Unit]
		return int64(math.Round(v)), math.Abs(v) < 1e15
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixMilli(), true
		}
	}
	return 0, false
}

// verbs are what others call DynamoDB's operations.
var verbs = map[string]sample.Op{
	"get": sample.GetItem, "read": sample.GetItem, "select": sample.GetItem,
	"put": sample.PutItem, "insert": sample.PutItem, "create": sample.PutItem, "write": sample.PutItem,
	"update": sample.UpdateItem, "modify": sample.UpdateItem, "upsert": sample.UpdateItem,
	"delete": sample.DeleteItem, "remove": sample.DeleteItem,
}

// operations are the verbs and the API's own names, in lower case and without what joins
// words.
var operations = func() map[string]sample.Op {
	all := maps.Clone(verbs)
	for op := sample.GetItem; op.String() != ""; op++ {
		all[strings.ToLower(op.String())] = op
	}
	return all
}()

var joints = strings.NewReplacer("_", "", "-", "", " ", "")

// operation returns the API's name of what others call an operation: put_item,
// dynamodb:PutItem, DynamoDB.PutItem, INSERT. Another text is returned as it is.
func operation(text string) string {
	short := text[strings.LastIndexAny(text, ":./")+1:]
	if op := operations[joints.Replace(strings.ToLower(short))]; op != sample.OpUnknown {
		return op.String()
	}
	return text
}

// lookup returns the value at a path, nil when there is none or it is null: a name with
// dots, or a name in an object, or in a text that holds an object as JSON.
func lookup(fields map[string]json.RawMessage, r *rule) json.RawMessage {
	value := fields[r.whole]
	if value == nil && len(r.path) > 1 {
		for i, name := range r.path {
			if i > 0 {
				if text, isText := textOf(value); isText {
					value = json.RawMessage(text)
				}
				fields = nil
				if json.Unmarshal(value, &fields) != nil {
					return nil
				}
			}
			if value = bytes.TrimSpace(fields[name]); len(value) == 0 {
				return nil
			}
		}
	}
	if string(value) == "null" || len(value) == 0 {
		return nil
	}
	return value
}
