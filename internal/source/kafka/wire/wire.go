package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Reader decodes the fields of a response in order. After a field beyond the response's
// end, all fields are zero and Err is set.
//
// kmsg's decoders are unsafe for flexible responses. They loop over as many tags as a
// response claims, perhaps for minutes.
type Reader struct {
	// Err is the reason why the reading ended. Callers may set it.
	Err      error
	rest     []byte
	flexible bool
}

// NewReader returns a reader of a response's fields. Flexible responses have compact lengths,
// and tags (KIP-482).
func NewReader(body []byte, flexible bool) Reader { return Reader{rest: body, flexible: flexible} }

// Bytes returns the next n bytes, without a copy.
func (w *Reader) Bytes(n int) []byte {
	if w.Err != nil || n < 0 || n > len(w.rest) {
		w.endShort()
		return nil
	}
	next := w.rest[:n:n]
	w.rest = w.rest[n:]
	return next
}

// endShort ends the reading because the response is too short. An earlier error stays.
func (w *Reader) endShort() {
	if w.Err == nil {
		w.Err = io.ErrUnexpectedEOF
	}
	w.rest = nil
}

// Int16 reads a number of two bytes.
func (w *Reader) Int16() int16 {
	if b := w.Bytes(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

// Int32 reads a number of four bytes.
func (w *Reader) Int32() int32 {
	if b := w.Bytes(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// Int64 reads a number of eight bytes.
func (w *Reader) Int64() int64 {
	if b := w.Bytes(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (w *Reader) uvarint() uint64 {
	v, n := binary.Uvarint(w.rest)
	if w.Bytes(n); n <= 0 || w.Err != nil {
		w.endShort()
		return 0
	}
	return v
}

// Length reads a number of elements or bytes; -1 for null.
func (w *Reader) Length() int {
	if !w.flexible {
		return int(w.Int32())
	}
	return w.compactLength()
}

// Each reads the elements of an array.
func (w *Reader) Each(element func()) {
	for n := w.Length(); n > 0 && w.Err == nil; n-- {
		element()
	}
}

// Text reads a string; null is empty.
func (w *Reader) Text() string {
	if w.flexible {
		return string(w.Bytes(max(w.compactLength(), 0)))
	}
	return string(w.Bytes(max(int(w.Int16()), 0)))
}

func (w *Reader) compactLength() int {
	n := w.uvarint()
	if n > uint64(len(w.rest))+1 { // each takes a byte at least
		w.endShort()
		return 0
	}
	return int(n) - 1
}

// Tags reads the tags that end each structure of a flexible response.
func (w *Reader) Tags(each func(tag uint64, value []byte)) {
	if !w.flexible {
		return
	}
	for n := w.uvarint(); n > 0 && w.Err == nil; n-- {
		tag := w.uvarint()
		value := w.Bytes(int(min(w.uvarint(), uint64(len(w.rest))+1)))
		if each != nil && w.Err == nil {
			each(tag, value)
		}
	}
}

// ErrOr returns the reader's error if the response is too short, and err otherwise.
func (w *Reader) ErrOr(err error) error {
	if w.Err != nil {
		return w.Err
	}
	return err
}

// End returns an error unless the response was read, whole.
func (w *Reader) End() error {
	if w.Err == nil && len(w.rest) > 0 {
		return fmt.Errorf("the response has %d bytes after its end", len(w.rest))
	}
	return w.Err
}
