package recordbatch

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// Sizes of a batch's fixed parts, in bytes.
const (
	frameSize  = 12 // base offset and length
	headerSize = 61 // frame and fixed header, up to the first record
	crcStart   = 21 // the checksum covers everything from the attributes on
	magicAt    = 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Decoder reads the batches of one fetch response after another. It is used by
// one goroutine. The zero value is ready for Reset.
type Decoder struct {
	inflate inflater

	position int64
	data     []byte // batches not yet begun
	aborted  []Aborted
	dead     map[int64]struct{} // producers whose current transaction aborts
	err      error              // the error that ends the response, returned after the good records

	epoch   int32 // leader epoch of the last batch begun
	batch   header
	body    []byte // unread records of the current batch; if compressed, the end of the buffer
	left    int32  // how many records the batch still holds
	giants  int    // skipped bytes of oversized records in the batch
	last    int64  // the offset of the record read last
	claimed int64  // claimed end of the last batch, if no record is there
	records []Record
}

// Limits bounds a Decoder's memory.
type Limits struct {
	// Record is the most bytes of a record in a compressed batch.
	Record int
	// Memory, if not nil, is called before the decoder holds more bytes than before, with
	// the total. Its error is an ErrMemory, and ends the response.
	Memory func(bytes int) error
}

// Reset begins a response: its records and its list of aborted transactions. Records before
// position are left out. The decoder keeps data until the next Reset; without data it keeps
// nothing.
func (d *Decoder) Reset(position int64, data []byte, aborted []Aborted, limits Limits) {
	d.position, d.data, d.err = position, data, nil
	d.body, d.left, d.claimed = nil, 0, 0
	if data == nil {
		clear(d.records[:cap(d.records)]) // the chunk refers to the last response
	}
	d.aborted = append(d.aborted[:0], aborted...)
	slices.SortFunc(d.aborted, func(a, b Aborted) int { return cmp.Compare(a.FirstOffset, b.FirstOffset) })
	clear(d.dead)
	d.inflate.reset(limits)
}

// Next returns the next records. It returns io.EOF at the end of the response, even if the
// broker cut off the last batch. A batch that cannot be read is a *CorruptError or
// ErrOldFormat. Next first returns the good records before an error.
func (d *Decoder) Next() (Chunk, error) {
	c := Chunk{Next: d.position, Epoch: -1}
	d.records = d.records[:0]
	for d.err == nil && len(d.records) < maxChunk {
		if err := d.step(&c); errors.Is(err, errFull) {
			break
		} else {
			d.err = err
		}
	}
	if d.position > c.Next {
		c.Epoch = d.epoch
	}
	c.Records, c.Next = d.records, d.position
	if len(d.records) == 0 && d.err != nil && !c.moved {
		return Chunk{}, d.err
	}
	return c, nil
}

// errFull ends a chunk whose records leave no room in the buffer.
var errFull = errors.New("no room beside the records of this chunk")

// step begins the next batch, or reads records of the current one.
func (d *Decoder) step(c *Chunk) error {
	switch {
	case d.left > 0:
		return d.readRecords(c)
	case len(d.records) == 0:
		d.inflate.buf = d.inflate.buf[:0]
	case d.inflate.full():
		return errFull
	}
	raw, err := d.frame()
	if err != nil {
		return err
	}
	return d.begin(raw, c)
}

// frame cuts the next batch off the data.
func (d *Decoder) frame() ([]byte, error) {
	if len(d.data) <= magicAt {
		return nil, io.EOF
	}
	length := int32(binary.BigEndian.Uint32(d.data[8:]))
	switch magic := d.data[magicAt]; {
	case magic < 2:
		return nil, ErrOldFormat
	case magic > 2:
		return nil, &CorruptError{From: d.position, Reason: fmt.Sprintf("unknown format, magic %d", magic)}
	case length < headerSize-frameSize:
		return nil, &CorruptError{From: d.position, Reason: fmt.Sprintf("impossible batch length %d", length)}
	}
	end := frameSize + int(length)
	if end > len(d.data) {
		return nil, io.EOF
	}
	raw := d.data[:end:end]
	d.data = d.data[end:]
	return raw, nil
}

// begin checks a batch, and makes it the current one or skips it.
func (d *Decoder) begin(raw []byte, c *Chunk) error {
	h := parseHeader(raw)
	if sum := crc32.Checksum(raw[crcStart:], castagnoli); sum != binary.BigEndian.Uint32(raw[17:]) {
		return d.corrupt(h, "checksum does not hold")
	}
	if h.base < 0 || h.last < h.base || h.last == math.MaxInt64 || h.count < 0 || int64(h.count) > h.last-h.base+1 {
		return d.corrupt(h, "impossible offsets or record count")
	}
	if following := d.nextOffset(); following > h.base && following < h.next && d.followingIsSound() {
		// The batch claims offsets of the next batch, whose records would be skipped
		// silently. End it before them.
		h.last, h.next = following-1, following
		if int64(h.count) > h.next-h.base {
			return d.corrupt(h, "more records than offsets before the next batch")
		}
	}
	if h.next <= d.position {
		return nil
	}
	d.epoch = h.epoch
	if d.skips(h, raw[headerSize:]) {
		d.position = h.next
		c.moved = true
		return nil
	}
	d.batch, d.body = h, raw[headerSize:]
	d.inflate.src = nil
	if codec := h.attributes & codecMask; codec != codecNone {
		var err error
		if d.body, err = d.inflate.begin(codec, raw[headerSize:]); err != nil {
			return d.fail(err)
		}
	}
	d.left, d.giants = h.count, 0
	if h.count == 0 { // compaction keeps a producer's last batch, emptied
		d.position = h.next
		c.moved = true
	}
	return nil
}

// End returns the offset behind the last whole batch of a response, and the leader epoch of
// that batch. It believes the batches' headers and checks nothing.
func End(data []byte) (next int64, epoch int32) {
	for len(data) >= headerSize && data[magicAt] == 2 {
		size := frameSize + int64(int32(binary.BigEndian.Uint32(data[8:])))
		if size < headerSize || size > int64(len(data)) {
			break
		}
		h := parseHeader(data)
		next, epoch, data = h.next, h.epoch, data[size:]
	}
	return next, epoch
}

func parseHeader(raw []byte) header {
	h := header{
		base:       int64(binary.BigEndian.Uint64(raw)),
		epoch:      int32(binary.BigEndian.Uint32(raw[12:])),
		attributes: int16(binary.BigEndian.Uint16(raw[21:])),
		baseTime:   int64(binary.BigEndian.Uint64(raw[27:])),
		maxTime:    int64(binary.BigEndian.Uint64(raw[35:])),
		producer:   int64(binary.BigEndian.Uint64(raw[43:])),
		count:      int32(binary.BigEndian.Uint32(raw[57:])),
	}
	h.last = h.base + int64(int32(binary.BigEndian.Uint32(raw[23:])))
	h.next = h.last + 1
	return h
}

// skips reports whether a batch holds no records to count. It also follows transactions: an
// aborted one is dead from its first record to its marker.
func (d *Decoder) skips(h header, body []byte) bool {
	for len(d.aborted) > 0 && d.aborted[0].FirstOffset <= h.last {
		if d.dead == nil {
			d.dead = make(map[int64]struct{})
		}
		d.dead[d.aborted[0].ProducerID] = struct{}{}
		d.aborted = d.aborted[1:]
	}
	if h.attributes&control != 0 {
		if abortMarker(body) {
			delete(d.dead, h.producer)
		}
		return true
	}
	_, dead := d.dead[h.producer]
	return dead && h.attributes&transactional != 0
}

// abortMarker reports whether a control batch aborts its transaction. The key of its record
// is two int16: a version and a type, where 0 means "abort".
func abortMarker(body []byte) bool {
	r := cursor{b: body}
	r.varint() // length
	r.skip(1)  // attributes
	r.varint() // time
	r.varint() // offset
	key := r.bytes()
	return !r.bad && len(key) >= 4 && binary.BigEndian.Uint16(key[2:]) == 0
}

// nextOffset returns the first offset of the next batch in the data; negative when
// there is none.
func (d *Decoder) nextOffset() int64 {
	if len(d.data) < headerSize || d.data[magicAt] != 2 {
		return -1
	}
	return int64(binary.BigEndian.Uint64(d.data))
}

// followingIsSound reports whether the next batch is whole and its checksum holds.
func (d *Decoder) followingIsSound() bool {
	end := frameSize + int64(int32(binary.BigEndian.Uint32(d.data[8:])))
	return end >= headerSize && end <= int64(len(d.data)) &&
		crc32.Checksum(d.data[crcStart:end], castagnoli) == binary.BigEndian.Uint32(d.data[17:])
}

// finish moves the position behind a completed batch. After its last record a batch may
// claim offsets that compaction emptied, or offsets of later batches, whose records would
// be skipped silently. finish leaves offsets that the response does not confirm to the next
// response.
func (d *Decoder) finish(c *Chunk) {
	next := d.batch.next
	if d.last+1 < next && d.nextOffset() < next {
		next, d.claimed = d.last+1, next
	}
	if next > d.position {
		d.position, c.moved = next, true
	}
}

// ClaimedRecords returns the offset up to which the response's last batch claims records,
// if no later batch confirms it and no record is there; 0 otherwise. Read on from
// Chunk.Next, and accept the claim only if the log has no other records there.
func (d *Decoder) ClaimedRecords() int64 { return d.claimed }

// fail returns the error of reading the current batch: short memory, or a corrupt batch.
func (d *Decoder) fail(err error) error {
	d.left = 0
	if errors.Is(err, ErrMemory) {
		return err
	}
	return d.corrupt(d.batch, err.Error())
}

// corrupt describes a framed batch that cannot be read. Its claimed end is accepted unless
// the next batch begins earlier.
func (d *Decoder) corrupt(h header, reason string) error {
	e := &CorruptError{From: d.position, Reason: reason}
	if h.next > d.position && h.last >= h.base {
		e.To = h.next
	}
	if following := d.nextOffset(); following > d.position && (e.To == 0 || following < e.To) {
		e.To = following
	}
	return e
}
