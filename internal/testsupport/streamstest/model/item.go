package model

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Item is an item: its attributes by name. A nil Item is one that is not there.
type Item map[string]Value

// Value is an attribute's value: exactly one field is set. Its JSON is
// DynamoDB's.
type Value struct {
	S    *string          `json:"S,omitempty"`
	N    *string          `json:"N,omitempty"`
	B    []byte           `json:"B,omitzero"`
	BOOL *bool            `json:"BOOL,omitempty"`
	NULL *bool            `json:"NULL,omitempty"`
	SS   []string         `json:"SS,omitzero"`
	NS   []string         `json:"NS,omitzero"`
	BS   [][]byte         `json:"BS,omitzero"`
	L    []Value          `json:"L,omitzero"`
	M    map[string]Value `json:"M,omitzero"`
}

// S returns a string's value.
func S(text string) Value { return Value{S: &text} }

// N returns a number's value.
func N(number string) Value { return Value{N: &number} }

// B returns a binary's value.
func B(raw []byte) Value {
	if raw == nil {
		raw = []byte{}
	}
	return Value{B: raw}
}

// normal returns the value as DynamoDB keeps it: numbers in one spelling, sets in
// one order.
func (v Value) normal() Value {
	switch {
	case v.N != nil:
		return N(normalNumber(*v.N))
	case v.SS != nil:
		return Value{SS: slices.Sorted(slices.Values(v.SS))}
	case v.NS != nil:
		all := make([]string, len(v.NS))
		for i, n := range v.NS {
			all[i] = normalNumber(n)
		}
		slices.Sort(all)
		return Value{NS: all}
	case v.BS != nil:
		return Value{BS: slices.SortedFunc(slices.Values(v.BS), bytes.Compare)}
	case v.L != nil:
		all := make([]Value, len(v.L))
		for i, e := range v.L {
			all[i] = e.normal()
		}
		return Value{L: all}
	case v.M != nil:
		return Value{M: Item(v.M).Normal()}
	}
	return v
}

// Normal returns the item as DynamoDB keeps it.
func (i Item) Normal() Item {
	out := make(Item, len(i))
	for name, v := range i {
		out[name] = v.normal()
	}
	return out
}

// Equal reports whether two normal items are equal. Maps are encoded in the order of their
// names, so equal items have one JSON.
func (i Item) Equal(o Item) bool {
	return (i == nil) == (o == nil) && bytes.Equal(Encode(i), Encode(o))
}

// Only returns the part of the item that has these attributes.
func (i Item) Only(names ...string) Item {
	if i == nil {
		return nil
	}
	out := Item{}
	for _, name := range names {
		if v, ok := i[name]; ok {
			out[name] = v
		}
	}
	return out
}

// Clone returns a copy of the item.
func (i Item) Clone() Item { return maps.Clone(i) }

// Encode returns v as JSON. It panics on a value that JSON cannot hold.
func Encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// normalNumber is a decimal number without zeros that say nothing, written out
// without an exponent; a text that is no number is left as it is.
func normalNumber(text string) string {
	digits, point, negative, ok := decimal(text)
	switch {
	case !ok:
		return text
	case digits == "":
		return "0"
	}
	if missing := point - len(digits); missing > 0 {
		digits += strings.Repeat("0", missing)
	}
	if point <= 0 {
		digits, point = strings.Repeat("0", 1-point)+digits, 1
	}
	out := digits[:point]
	if point < len(digits) {
		out += "." + digits[point:]
	}
	if negative {
		out = "-" + out
	}
	return out
}
