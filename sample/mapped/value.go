package mapped

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"github.com/keyheat/keyheat/sample"
)

// appendValue appends a value in Keyheat JSON's format for its field. It appends an impossible
// value unchanged, so that the sample gets the field's reject reason.
func (d *Decoder) appendValue(dst []byte, k kind, raw json.RawMessage) []byte {
	text, isText := textOf(raw)
	switch k {
	case kindTime:
		if ms, ok := d.millis(text); ok {
			return strconv.AppendInt(dst, ms, 10)
		}
		return append(dst, `"no time"`...)
	case kindNumber:
		if text = d.number(strings.TrimSpace(text)); isText && json.Valid([]byte(text)) && text[0] != '"' && text[0] != '{' && text[0] != '[' {
			return append(dst, text...)
		}
	case kindBool:
		if text == "true" || text == "false" {
			return append(dst, text...)
		}
	case kindCount:
		switch text = strings.TrimSpace(text); text {
		case "true":
			return append(dst, '1')
		case "false", "":
			return append(dst, '0')
		}
		return d.appendValue(dst, kindNumber, raw)
	case kindThrottle:
		if throttleReason, known := sample.ParseThrottle(text); known {
			return appendText(dst, throttleReason)
		}
		return append(dst, unknownThrottle...)
	case kindOp:
		return appendText(dst, operation(text))
	case kindText:
		if first := raw[0]; first != '{' && first != '[' {
			return appendText(dst, text)
		}
	}
	return append(dst, raw...)
}

// unknownThrottle is a throttle that Keyheat JSON rejects with bad_throttle. It replaces
// unknown texts.
const unknownThrottle = `"-"`

// number returns a number with a decimal point. Rows with semicolons as separators have decimal
// commas.
func (d *Decoder) number(text string) string {
	if d.layout != rows || d.columns.Separator != ';' || strings.Count(text, ",") != 1 || strings.Contains(text, ".") {
		return text
	}
	return strings.Replace(text, ",", ".", 1)
}

// textOf returns the text of a JSON string, or the JSON of any other value.
func textOf(raw json.RawMessage) (text string, isText bool) {
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	return string(raw), false
}

// appendText appends a JSON string.
func appendText(dst []byte, text string) []byte {
	raw, err := json.Marshal(text)
	if err != nil { // strings always encode
		return append(dst, `""`...)
	}
	return append(dst, raw...)
}

// verbs are foreign names of DynamoDB's operations.
var verbs = map[string]sample.Op{
	"get": sample.GetItem, "read": sample.GetItem, "select": sample.GetItem,
	"put": sample.PutItem, "insert": sample.PutItem, "create": sample.PutItem, "write": sample.PutItem,
	"update": sample.UpdateItem, "modify": sample.UpdateItem, "upsert": sample.UpdateItem,
	"delete": sample.DeleteItem, "remove": sample.DeleteItem,
}

// operations are the verbs and the API's own names, in lower case and without word separators.
var operations = func() map[string]sample.Op {
	all := maps.Clone(verbs)
	for op := sample.GetItem; op.String() != ""; op++ {
		all[strings.ToLower(op.String())] = op
	}
	return all
}()

var joints = strings.NewReplacer("_", "", "-", "", " ", "")

// operation converts a foreign name of an operation to the API's name: put_item,
// dynamodb:PutItem, DynamoDB.PutItem, INSERT. It returns an unknown name unchanged.
func operation(text string) string {
	short := text[strings.LastIndexAny(text, ":./")+1:]
	if op := operations[joints.Replace(strings.ToLower(short))]; op != sample.OpUnknown {
		return op.String()
	}
	return text
}
