package recordbatch

import "encoding/binary"

// readRecords moves records of the batch in progress into the chunk, until it
// is full or the batch is done.
func (d *Decoder) readRecords(c *Chunk) error {
	r := cursor{b: d.body}
	for d.left > 0 && len(d.records) < MaxChunk {
		rec, offset := r.record(&d.batch)
		if r.bad || offset > d.batch.last-int64(d.left-1) { // each record left needs an offset

			d.left = 0
			return d.corrupt(d.batch, "broken record")
		}
		d.left--
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
		d.position = d.batch.next
		c.moved = true
	}
	return nil
}

// cursor reads Kafka's primitive types off the front of b; bad is set when b
// ended too early or held an impossible length, and stays set.
type cursor struct {
	b   []byte
	bad bool
}

// record reads one record: length, attributes, time and offset deltas, key,
// value and headers. The headers are passed by.
func (r *cursor) record(h *header) (Record, int64) {
	length := r.varint()
	if length < 0 || length > int64(len(r.b)) {
		r.bad = true
		return Record{}, 0
	}
	in := cursor{b: r.b[:length:length]}
	r.b = r.b[length:]
	in.skip(1)
	when := h.baseTime + in.varint()
	offset := h.base + in.varint()
	in.bytes()
	value := in.bytes()
	if h.attributes&logAppendTime != 0 {
		when = h.maxTime
	}
	r.bad = r.bad || in.bad || offset < h.base
	return Record{Value: value, Time: when}, offset
}

// bytes reads a length and that many bytes; a negative length is null.
func (r *cursor) bytes() []byte {
	n := r.varint()
	if n < 0 {
		return nil
	}
	if n > int64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

// varint reads a zigzag varint.
func (r *cursor) varint() int64 {
	if len(r.b) > 0 && r.b[0] < 0x80 { // one byte: the usual case
		v := r.b[0]
		r.b = r.b[1:]
		return int64(v>>1) ^ -int64(v&1)
	}
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *cursor) skip(n int) {
	if n > len(r.b) {
		r.bad, r.b = true, nil
		return
	}
	r.b = r.b[n:]
}
