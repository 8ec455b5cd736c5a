package recordbatch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// readRecords moves records of the batch in progress into the chunk, until it
// is full or the batch is done.
func (d *Decoder) readRecords(c *Chunk) error {
	r := cursor{b: d.body}
	for d.left > 0 && len(d.records) < maxChunk {
		if d.inflate.src != nil && !r.decompressWhole() {
			d.body, r.b = r.b, nil // the only reference to a buffer that may be replaced
			passed, err := d.readOn()
			r.b = d.body
			if err != nil {
				return err
			}
			if passed {
				continue
			}
		}
		rec, offset := r.record(&d.batch)
		if r.bad || offset > d.batch.last-int64(d.left-1) { // each record left needs an offset
			return d.fail(errBroken)
		}
		d.left--
		d.last = offset
		if offset < d.position {
			continue
		}
		d.position = offset + 1
		d.records = append(d.records, rec)
		c.Bytes += len(rec.Value)
		c.Time = max(c.Time, rec.Time)
	}
	d.body = r.b
	if d.left == 0 {
		d.finish(c)
	}
	return nil
}

var (
	errBroken   = errors.New("broken record")
	errTooLarge = errors.New("over the limit: raise kafka.max_batch above it")
	errGiants   = errors.New("too many records over the limit: the rest of the batch is skipped")
)

// maxGiants bounds the oversized records of a batch that are skipped, as a multiple of a
// record's limit. A few kilobytes may hold many, and for each one all records before it are
// decompressed again.
const maxGiants = 16

// recordHead is the most bytes of a record before its key: its length, attributes, time and
// offset.
const recordHead = 3*binary.MaxVarintLen64 + 1

// readOn decompresses until the next record is whole, or the batch ends. It reports whether
// it skipped the record instead.
func (d *Decoder) readOn() (passed bool, err error) {
	for d.inflate.src != nil {
		length, n := binary.Varint(d.body)
		want := len(d.body) + 1
		switch {
		case n < 0 || n > 0 && length < 0:
			return false, nil // it is broken
		case n > 0 && length > int64(d.inflate.limits.Record):
			return true, d.passLarge(int(min(length, math.MaxInt32)), n)
		case n > 0 && n+int(length) <= len(d.body):
			return false, nil
		case n > 0:
			want = n + int(length)
		}
		if err := d.require(want); err != nil {
			return false, err
		}
	}
	return false, nil
}

// require decompresses until body holds want bytes or the batch ends.
func (d *Decoder) require(want int) error {
	have := len(d.body)
	if len(d.records) == 0 && cap(d.inflate.buf) < want {
		// Drop all references to the old buffer before the new one is made.
		d.body = nil
		clear(d.records[:cap(d.records)])
	}
	ok, err := d.inflate.makeRoom(have, want, len(d.records) == 0)
	switch {
	case err != nil:
		return d.fail(err)
	case !ok:
		return errFull
	}
	start := len(d.inflate.buf) - have
	err = d.inflate.fill(start + want)
	d.body = d.inflate.buf[start:]
	if err != nil {
		return d.fail(err)
	}
	return nil
}

// passLarge skips an oversized record whose loss is already recorded. Otherwise it returns
// an error of this record alone.
func (d *Decoder) passLarge(length, n int) error {
	if len(d.records) > 0 {
		return errFull
	}
	if err := d.require(recordHead); err != nil {
		return err
	}
	head := cursor{b: d.body[n:]}
	head.skip(1)
	head.varint()
	offset := d.batch.base + head.varint()
	if head.bad || offset < d.batch.base || offset > d.batch.last-int64(d.left-1) {
		return d.fail(errBroken)
	}
	if offset >= d.position {
		d.left = 0
		return &CorruptError{From: d.position, To: offset + 1, Reason: fmt.Sprintf("a record of %d bytes is %v", length, errTooLarge)}
	}
	if d.giants += length; d.giants > maxGiants*d.inflate.limits.Record {
		return d.fail(errGiants)
	}
	d.left--
	d.last = offset
	if n += length; n <= len(d.body) {
		d.body = d.body[n:]
		return nil
	}
	n -= len(d.body)
	d.inflate.buf, d.body = d.inflate.buf[:0], nil
	if err := d.inflate.discard(n); err != nil {
		return d.fail(err)
	}
	return nil
}

// cursor reads Kafka's primitive types off the front of b; bad is set when b
// ended too early or held an impossible length, and stays set.
type cursor struct {
	b   []byte
	bad bool
}

// decompressWhole reports whether b begins with a whole record.
func (r *cursor) decompressWhole() bool {
	length, n := binary.Varint(r.b)
	return n > 0 && length >= 0 && length <= int64(len(r.b)-n)
}

// record reads one record: length, attributes, time and offset deltas, key, value and
// headers. It skips the headers.
func (r *cursor) record(h *header) (Record, int64) {
	length, at := varintAt(r.b, 0)
	if length < 0 || length > int64(len(r.b)-at) {
		r.bad = true
		return Record{}, 0
	}
	in := r.b[at : at+int(length)]
	r.b = r.b[at+int(length):]
	when, at := varintAt(in, 1) // behind the attributes
	offset, at := varintAt(in, at)
	_, at = bytesAt(in, at)
	value, at := bytesAt(in, at)
	when, offset = when+h.baseTime, offset+h.base
	if h.attributes&logAppendTime != 0 {
		when = h.maxTime
	}
	r.bad = r.bad || at > len(in) || offset < h.base
	return Record{Value: value, Time: when}, offset
}

// varintAt reads a zigzag varint, and returns the offset after it. If the varint is not
// wholly within b, the offset is beyond the end of b.
func varintAt(b []byte, at int) (v int64, end int) {
	if at >= 0 && at+1 < len(b) { // most have one byte or two
		if c := b[at]; c < 0x80 {
			return int64(c>>1) ^ -int64(c&1), at + 1
		}
		if c := uint64(b[at]&0x7f) | uint64(b[at+1])<<7; b[at+1] < 0x80 {
			return int64(c>>1) ^ -int64(c&1), at + 2
		}
	}
	if at > len(b) {
		return 0, at
	}
	v, n := binary.Varint(b[at:])
	if n <= 0 {
		return 0, len(b) + 1
	}
	return v, at + n
}

// bytesAt reads a length and that many bytes, as varintAt reads a number; a negative
// length is null.
func bytesAt(b []byte, at int) (value []byte, end int) {
	n, at := varintAt(b, at)
	switch {
	case n < 0 || at > len(b):
		return nil, at
	case n > int64(len(b)-at):
		return nil, len(b) + 1
	}
	end = at + int(n)
	return b[at:end:end], end
}

// bytes reads a length and that many bytes; a negative length is null.
func (r *cursor) bytes() []byte {
	value, end := bytesAt(r.b, 0)
	r.skip(end)
	return value
}

// varint reads a zigzag varint.
func (r *cursor) varint() int64 {
	v, end := varintAt(r.b, 0)
	r.skip(end)
	return v
}

func (r *cursor) skip(n int) {
	if n > len(r.b) {
		r.bad, r.b = true, nil
		return
	}
	r.b = r.b[n:]
}
