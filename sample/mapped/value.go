package mapped

import (
	"encoding/json"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"github.com/keyheat/keyheat/sample"
)

// appendValue appends a value in Keyheat JSON's format for its field. It appends an impossible
// value unchanged, so that the sample gets the field's reject reason.
func (d *Decoder) appendValue(dst []byte, k kind, raw json.RawMessage) []byte {
	text, isText := textOf(raw)
	switch k {
	case kindKey:
		if object := typedIn(text); isText && object != nil {
			return append(dst, object...)
		}
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
	case kindRead:
		switch text {
		case "true":
			text = "strong"
		case "false":
			text = "eventual"
		}
		return appendText(dst, text)
	case kindText:
		var list []string
		if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &list) == nil && len(list) == 1 { // as OpenTelemetry writes the one table
			return appendText(dst, list[0])
		}
		if first := raw[0]; first != '{' && first != '[' {
			return appendText(dst, text)
		}
	}
	return append(dst, raw...)
}

// typedIn returns the value in DynamoDB's JSON that a text is, such as {"S":"a"}, or nil.
func typedIn(text string) json.RawMessage {
	var members map[string]json.RawMessage
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &members) != nil || len(members) != 1 {
		return nil
	}
	for name, value := range members {
		if _, isText := textOf(value); isText && strings.Contains("SNB", name) {
			return json.RawMessage(text)
		}
	}
	return nil
}

// unknownThrottle is a throttle that Keyheat JSON rejects with bad_throttle. It replaces
// unknown texts.
const unknownThrottle = `"-"`

// decimalComma is a cell with a decimal comma, in rows with semicolons as separators.
var decimalComma = regexp.MustCompile(`(?m)(?:^|;)"?-?\d+(?:\.\d{3})*,\d+"?(?:;|\r?$)`)

// number returns a number with a decimal point. Where one cell has a decimal comma, points part
// thousands: 1.200 is 1200.
func (d *Decoder) number(text string) string {
	if !d.commas {
		return text
	}
	return strings.Replace(strings.ReplaceAll(text, ".", ""), ",", ".", 1)
}

// consumed is DynamoDB's ConsumedCapacity of a request.
type consumed struct {
	Capacity, Read, Write json.RawMessage
	Table                 *consumed
}

func (c *consumed) UnmarshalJSON(raw []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	for name, value := range m {
		switch plain(name) {
		case "capacityunits":
			c.Capacity = value
		case "readcapacityunits":
			c.Read = value
		case "writecapacityunits":
			c.Write = value
		case "table":
			c.Table = &consumed{}
			if json.Unmarshal(value, c.Table) != nil {
				c.Table = nil
			}
		}
	}
	return nil
}

// consumedIn returns the ConsumedCapacity in a value: of the table, where it has the shares of its
// indexes beside it. ok is false for a value without one, such as a number.
func consumedIn(value json.RawMessage) (c consumed, ok bool) {
	object := inner(value)
	if object == nil {
		return c, false
	}
	var list []json.RawMessage
	if json.Unmarshal(object, &list) == nil && len(list) == 1 { // of a batch to one table
		object = inner(list[0])
	}
	if json.Unmarshal(object, &c) != nil {
		return c, false
	}
	if c.Table != nil {
		c = *c.Table
	}
	return c, c.Capacity != nil || c.Read != nil || c.Write != nil
}

// appendUnits appends capacity units, of the operation's side where they do not tell it.
func (d *Decoder) appendUnits(dst []byte, raw json.RawMessage, op sample.Op) []byte {
	c, ok := consumedIn(raw)
	if !ok {
		c.Capacity = raw
	}
	side := map[bool]string{true: "rcu", false: "wcu"}[op.IsRead()]
	switch {
	case c.Read != nil || c.Write != nil:
		for name, value := range map[string]json.RawMessage{"rcu": c.Read, "wcu": c.Write} {
			if value != nil {
				dst = d.appendField(dst, name, kindNumber, value)
			}
		}
		return dst
	case !op.IsRead() && !op.IsWrite():
		return dst
	}
	return d.appendField(dst, side, kindNumber, c.Capacity)
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
	"c": sample.PutItem, "u": sample.UpdateItem, "d": sample.DeleteItem, // Debezium's
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

// plain returns a name in lower case and without word separators.
func plain(name string) string { return joints.Replace(strings.ToLower(name)) }

// operation converts a foreign name of an operation to the API's name: put_item,
// dynamodb:PutItem, DynamoDB.PutItem, INSERT. It returns an unknown name unchanged.
func operation(text string) string {
	short := plain(text[strings.LastIndexAny(text, ":./")+1:])
	for _, class := range []string{"command", "request", "input"} { // of SDKs: PutItemCommand
		short = strings.TrimSuffix(short, class)
	}
	if op := operations[short]; op != sample.OpUnknown {
		return op.String()
	}
	return text
}
