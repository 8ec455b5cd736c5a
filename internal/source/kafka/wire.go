package kafka

import (
	"encoding/binary"
	"fmt"
	"io"
)

// wire reads the fields of a response in turn. After one that the response is too short
// for, all are zero and err says so.
//
// kmsg's own decoders are not used for flexible responses: they go through as many tags as
// one claims to have, which may take minutes, and make as many elements as it claims.
type wire struct {
	rest []byte
	// flexible responses have compact lengths, and tags (KIP-482).
	flexible bool
	err      error
}

// bytes returns the next n bytes, which are part of the response.
func (w *wire) bytes(n int) []byte {
	if w.err != nil || n < 0 || n > len(w.rest) {
		w.err, w.rest = io.ErrUnexpectedEOF, nil
		return nil
	}
	next := w.rest[:n:n]
	w.rest = w.rest[n:]
	return next
}

func (w *wire) int16() int16 {
	if b := w.bytes(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (w *wire) int32() int32 {
	if b := w.bytes(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (w *wire) int64() int64 {
	if b := w.bytes(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (w *wire) uvarint() uint64 {
	v, n := binary.Uvarint(w.rest)
	if w.bytes(n); n <= 0 {
		w.err, w.rest = io.ErrUnexpectedEOF, nil
		return 0
	}
	return v
}

// length reads how many elements or bytes follow; -1 for none at all.
func (w *wire) length() int {
	if !w.flexible {
		return int(w.int32())
	}
	return w.compactLength()
}

// each reads the elements of an array.
func (w *wire) each(element func()) {
	for n := w.length(); n > 0 && w.err == nil; n-- {
		element()
	}
}

// text reads a text; none at all is an empty one.
func (w *wire) text() string {
	if w.flexible {
		return string(w.bytes(max(w.compactLength(), 0)))
	}
	return string(w.bytes(max(int(w.int16()), 0)))
}

// data reads bytes behind their number; none at all are nil.
func (w *wire) data() []byte {
	if n := w.length(); n >= 0 {
		return w.bytes(n)
	}
	return nil
}

func (w *wire) compactLength() int {
	n := w.uvarint()
	if n > uint64(len(w.rest))+1 { // each takes a byte at least
		w.err, w.rest = io.ErrUnexpectedEOF, nil
		return 0
	}
	return int(n) - 1
}

// tags reads the tags that end each structure of a flexible response.
func (w *wire) tags(each func(tag uint64, value []byte)) {
	if !w.flexible {
		return
	}
	for n := w.uvarint(); n > 0 && w.err == nil; n-- {
		tag := w.uvarint()
		value := w.bytes(int(min(w.uvarint(), uint64(len(w.rest))+1)))
		if each != nil && w.err == nil {
			each(tag, value)
		}
	}
}

// or returns that the response is too short where it is, else the other error.
func (w *wire) or(err error) error {
	if w.err != nil {
		return w.err
	}
	return err
}

// end returns an error unless the response was read, whole.
func (w *wire) end() error {
	if w.err == nil && len(w.rest) > 0 {
		return fmt.Errorf("the response has %d bytes after its end", len(w.rest))
	}
	return w.err
}
