package change

import (
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/keyheat/keyheat/sample"
)

var errValue = errors.New(`not an attribute in DynamoDB JSON: write one type, as in {"S":"text"}`)

// UnmarshalJSON reads DynamoDB JSON. It accepts numbers without quotes and base64 without
// padding. The caller bounds the depth, as Decoder does.
func (v *Value) UnmarshalJSON(raw []byte) error {
	var typed map[Type]json.RawMessage
	if err := json.Unmarshal(raw, &typed); err != nil || len(typed) != 1 {
		return errValue
	}
	for t, inner := range typed {
		v.Type = t
		return v.read(inner)
	}
	return nil
}

// read reads the JSON value behind the type.
func (v *Value) read(inner []byte) (err error) {
	switch v.Type {
	case String, Number, Binary:
		v.Text, err = readText(v.Type, inner)
		return err
	case Bool, Null:
		var b bool
		if inner[0] == 'n' || json.Unmarshal(inner, &b) != nil {
			return errValue
		}
		v.Text = string(inner)
		return nil
	case StringSet, NumberSet, BinarySet:
		return v.readSet(inner)
	case List:
		return readInto(inner, '[', &v.Elements)
	case Map:
		return readInto(inner, '{', &v.Members)
	}
	return errValue
}

func (v *Value) readSet(inner []byte) error {
	var all []json.RawMessage
	if err := readInto(inner, '[', &all); err != nil {
		return err
	}
	elementType := v.Type[:1]
	for _, raw := range all {
		text, err := readText(elementType, raw)
		if err != nil {
			return err
		}
		v.Elements = append(v.Elements, Value{Type: elementType, Text: text})
	}
	return nil
}

// readInto reads JSON that begins with the bracket. It does not accept null.
func readInto(raw []byte, bracket byte, into any) error {
	if raw[0] != bracket || json.Unmarshal(raw, into) != nil {
		return errValue
	}
	return nil
}

// readText returns the text of a string, a number or a binary, as Value keeps it.
func readText(t Type, raw []byte) (string, error) {
	text := string(raw)
	if t != Number || raw[0] == '"' {
		if err := readInto(raw, '"', &text); err != nil {
			return "", err
		}
	}
	switch t {
	case Number:
		k, err := sample.KeyNumber(text)
		return k.Text, err
	case Binary:
		bytes, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			bytes, err = base64.RawStdEncoding.DecodeString(text)
		}
		return string(bytes), err
	}
	return text, nil
}
