package samplepb

import (
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// wire goes through the fields of one message.
type wire struct {
	src []byte
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
