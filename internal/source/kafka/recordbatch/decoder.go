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
	err      error              // what ends the response, returned after the good part

	epoch   int32 // of the leader that wrote the batch begun last
	batch   header
	body    []byte // records of the batch in progress, not yet read; of a compressed one the end of the buffer
	left    int32  // how many records the batch still holds
	giants  int    // how many bytes of records over the limit of the batch were passed by
	last    int64  // the offset of the record read last
	claimed int64  // the end of the last batch, where it holds no record up to it
	records []Record
}

// Limits are what a Decoder keeps to.
type Limits struct {
	// Record is the most bytes of a record in a compressed batch.
	Record int
	// Memory, unless it is nil, is asked before the decoder holds more bytes than
	// before, with how many in all. Its error is an ErrMemory, and ends the response.
	Memory func(bytes int) error
}

// Reset begins a response: its records, of which those before position are
// left out, and its list of aborted transactions. The decoder keeps data until
// the next Reset; one without data keeps nothing.
func (d *Decoder) Reset(position int64, data []byte, aborted []Aborted, limits Limits) {
	d.position, d.data, d.err = position, data, nil
	d.body, d.left, d.claimed = nil, 0, 0
	if data == nil {
		clear(d.records[:cap(d.records)]) // which refer to the last response
	}
	d.aborted = append(d.aborted[:0], aborted...)
	slices.SortFunc(d.aborted, func(a, b Aborted) int { return cmp.Compare(a.FirstOffset, b.FirstOffset) })
	clear(d.dead)
	d.inflate.reset(limits)
}

// Next returns the next records. It returns io.EOF at the end of the response
// (a last batch that the broker cut off is no error), a *CorruptError for a
// batch that cannot be read, and ErrOldFormat. What was good before an error
// is handed out first.
func (d *Decoder) Next() (Chunk, error) {
	c := Chunk{Next: d.position, Epoch: -1}
	d.records = d.records[:0]
	for d.err == nil && len(d.records) < MaxChunk {
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

// step begins the next batch, or reads records of the one in progress.
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

// begin checks a batch and makes it the one in progress, or passes it by.
func (d *Decoder) begin(raw []byte, c *Chunk) error {
	h := parseHeader(raw)
	if sum := crc32.Checksum(raw[crcStart:], castagnoli); sum != binary.BigEndian.Uint32(raw[17:]) {
		return d.corrupt(h, "checksum does not hold")
	}
	if h.base < 0 || h.last < h.base || h.last == math.MaxInt64 || h.count < 0 || int64(h.count) > h.last-h.base+1 {
		return d.corrupt(h, "impossible offsets or record count")
	}
	if following := d.following(); following > h.base && following < h.next && d.followingIsSound() {
		// The batch claims offsets of the one behind it, which would be passed by
		// without a word. What it really holds ends there.
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

// End returns the offset behind the last whole batch of a response and the epoch of the
// leader that wrote it, by the batches' own word: nothing is checked. Both are 0 where no
// batch is whole.
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

// skips reports whether a batch holds nothing to count, and follows the
// transactions: one that aborted is dead from its first record to its marker.
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

// abortMarker reports whether a control batch's record ends a transaction as
// aborted. Its key is two int16: a version and a type, of which 0 is "abort".
func abortMarker(body []byte) bool {
	r := cursor{b: body}
	r.varint() // length
	r.skip(1)  // attributes
	r.varint() // time
	r.varint() // offset
	key := r.bytes()
	return !r.bad && len(key) >= 4 && binary.BigEndian.Uint16(key[2:]) == 0
}

// following returns the first offset of the next batch in the data; negative when
// there is none.
func (d *Decoder) following() int64 {
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

// finish moves the position behind a batch whose records are read. Behind its last record
// it may claim offsets that compaction emptied, or those of batches behind it, which would
// be passed by without a word: what nothing in the response shows to be its own is left to
// the next one.
func (d *Decoder) finish(c *Chunk) {
	next := d.batch.next
	if d.last+1 < next && d.following() < next {
		next, d.claimed = d.last+1, next
	}
	if next > d.position {
		d.position, c.moved = next, true
	}
}

// ClaimedRecords returns the offset up to which the last batch of a response reaches by its own
// word, when no batch behind it confirms that and no record lies there; 0 else. Read on
// from Chunk.Next, and believe it only where nothing else is there.
func (d *Decoder) ClaimedRecords() int64 { return d.claimed }

// fail returns the error of reading the batch in progress: that memory is short, or
// what is wrong with the batch.
func (d *Decoder) fail(err error) error {
	d.left = 0
	if errors.Is(err, ErrMemory) {
		return err
	}
	return d.corrupt(d.batch, err.Error())
}

// corrupt describes a batch that was framed but cannot be read. Its own idea
// of its end is believed unless the batch behind it begins earlier.
func (d *Decoder) corrupt(h header, reason string) error {
	e := &CorruptError{From: d.position, Reason: reason}
	if h.next > d.position && h.last >= h.base {
		e.To = h.next
	}
	if following := d.following(); following > d.position && (e.To == 0 || following < e.To) {
		e.To = following
	}
	return e
}
