package change

import (
	"maps"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/sample"
)

// Type is the type of an attribute, as DynamoDB JSON spells it.
type Type string

// The types of attributes.
const (
	String    Type = "S"
	Number    Type = "N"
	Binary    Type = "B"
	Bool      Type = "BOOL"
	Null      Type = "NULL"
	StringSet Type = "SS"
	NumberSet Type = "NS"
	BinarySet Type = "BS"
	List      Type = "L"
	Map       Type = "M"
)

// Value is the value of one attribute. Its JSON is DynamoDB's: {"S":"text"}.
type Value struct {
	Type Type
	// Text is the text of a String, a Number in the canonical form that
	// sample.KeyNumber makes, the raw bytes of a Binary, "true" or "false".
	Text string
	// Elements are those of a List or of a set; a set's have the set's own type
	// without its last letter.
	Elements []Value
	// Members are those of a Map.
	Members Item
}

// Item is an item, or a part of one: its attributes by name. A nil Item is one
// that is not there, or not known.
type Item map[string]Value

// isSet reports whether the order of the elements means nothing.
func (t Type) isSet() bool { return t == StringSet || t == NumberSet || t == BinarySet }

// Equal reports whether DynamoDB would call two values equal: numbers by their
// value, sets in any order.
func (v Value) Equal(o Value) bool {
	if v.Type != o.Type || v.Text != o.Text || len(v.Elements) != len(o.Elements) {
		return false
	}
	mine, theirs := v.Elements, o.Elements
	if v.Type.isSet() {
		mine, theirs = slices.SortedFunc(slices.Values(mine), byText), slices.SortedFunc(slices.Values(theirs), byText)
	}
	return slices.EqualFunc(mine, theirs, Value.Equal) && v.Members.Equal(o.Members)
}

func byText(a, b Value) int { return strings.Compare(a.Text, b.Text) }

// Equal reports whether both have the same attributes with equal values.
func (i Item) Equal(o Item) bool { return maps.EqualFunc(i, o, Value.Equal) }

// Key returns the value as a key attribute; false when it can be none: not a
// string, number or binary, or empty.
func (v Value) Key() (sample.Key, bool) {
	if v.Text == "" {
		return sample.Key{}, false
	}
	switch v.Type {
	case String:
		return sample.KeyString(v.Text), true
	case Number:
		return sample.Key{Type: string(Number), Text: v.Text}, true
	case Binary:
		return sample.KeyBinary([]byte(v.Text)), true
	}
	return sample.Key{}, false
}
