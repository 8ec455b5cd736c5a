package samplepb

import (
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// types are the wire types of a message's fields, by number.
type types [sampleConditionFailed + 1]protowire.Type

// none is the type of an unused number.
const none protowire.Type = -1

// typesOf returns the wire types of three groups of fields: with a length, varints, and eight
// bytes.
func typesOf(lengths, varints, fixed numbers) (t types) {
	for i := range t {
		t[i] = none
	}
	for _, n := range lengths {
		t[n] = protowire.BytesType
	}
	for _, n := range varints {
		t[n] = protowire.VarintType
	}
	for _, n := range fixed {
		t[n] = protowire.Fixed64Type
	}
	return t
}

// wire walks through the fields of one message.
type wire struct {
	src []byte
	of  *types
	// number is the current field. value has its bytes if it has a length, and varint its bits
	// otherwise.
	number protowire.Number
	value  []byte
	varint uint64
	// bad means that the rest is not a field.
	bad bool
}

// next reads the next field, and returns false at the end.
func (w *wire) next() bool {
	if len(w.src) == 0 {
		return false
	}
	number, of, n := protowire.ConsumeTag(w.src)
	if n < 0 {
		return w.fail()
	}
	w.number, w.value, w.varint, w.src = number, nil, 0, w.src[n:]
	switch of {
	case protowire.VarintType:
		w.varint, n = protowire.ConsumeVarint(w.src)
	case protowire.Fixed64Type:
		w.varint, n = protowire.ConsumeFixed64(w.src)
	case protowire.BytesType:
		w.value, n = protowire.ConsumeBytes(w.src)
	default:
		n = protowire.ConsumeFieldValue(number, of, w.src)
	}
	if int(number) >= len(w.of) || w.of[number] != of {
		w.number = 0 // a field of a later schema
	}
	if n < 0 {
		return w.fail()
	}
	w.src = w.src[n:]
	return true
}

func (w *wire) fail() bool {
	w.bad, w.src = true, nil
	return false
}

// alias returns bytes of the message as a text, without a copy.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // the records alias the message, and say so
