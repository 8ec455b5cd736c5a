package samplepb

import (
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// types are those of a message's fields, by number.
type types [sampleAttrs + 1]protowire.Type

// none is the type of a number that no field has.
const none protowire.Type = -1

// typesOf returns the types of fields: those with a length, varints, and those of eight bytes.
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

// wire goes through the fields of one message.
type wire struct {
	src []byte
	of  *types
	// number is the field at hand, value its bytes where it has a length, varint its bits
	// where it has none.
	number protowire.Number
	value  []byte
	varint uint64
	// bad reports that what follows is no field.
	bad bool
}

// next reads the next field, and returns false when there is none.
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
		w.number = 0 // one of a later schema
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
