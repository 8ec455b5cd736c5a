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
	// Text is the text of a String, the canonical form of a Number (see sample.KeyNumber), the
	// raw bytes of a Binary, or "true" or "false".
	Text string
	// Elements are the elements of a List or a set. An element of a set has the set's type
	// without its last letter.
	Elements []Value
	// Members are the attributes of a Map.
	Members Item
}

// Item is an item, or a part of it: attributes by name. A nil Item is missing or unknown.
type Item map[string]Value

// isSet reports whether the order of the elements is irrelevant.
func (t Type) isSet() bool { return t == StringSet || t == NumberSet || t == BinarySet }

// Equal reports whether DynamoDB treats two values as equal: numbers by value, sets in any
// order.
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

// Key returns the value as a key attribute. It returns false for an empty value, and for any
// type but string, number and binary.
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
