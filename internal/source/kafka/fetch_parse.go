package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"

	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
)

var errShortResponse = errors.New("fetch response ends too early")

// parseFetch reads a Fetch response of one partition. The records stay where
// they are.
func parseFetch(buf []byte, version int16, topic string, partition int32) (*fetchResponse, error) {
	w := wire{b: buf}
	if id := w.int32(); id != correlation && !w.short {
		return nil, fmt.Errorf("fetch response is of another request (id %d)", id)
	}
	w.int32() // throttle time: the broker itself waits
	if version >= 7 {
		if code := w.int16(); code != 0 {
			return nil, kafka.Error(code)
		}
		w.int32() // session
	}
	if topics := w.int32(); topics != 1 && !w.short {
		return nil, fmt.Errorf("fetch response holds %d topics, asked for 1", topics)
	}
	name := w.text()
	if partitions := w.int32(); partitions != 1 && !w.short {
		return nil, fmt.Errorf("fetch response holds %d partitions, asked for 1", partitions)
	}
	id := w.int32()
	res := w.partition(version)
	res.buf = buf
	switch {
	case w.short:
		return nil, errShortResponse
	case name != topic || id != partition:
		return nil, fmt.Errorf("fetch response is of %s/%d, asked for %s/%d", name, id, topic, partition)
	}
	return res, nil
}

// partition reads the response of the one partition, after its number.
func (w *wire) partition(version int16) *fetchResponse {
	res := &fetchResponse{logStart: -1}
	if code := w.int16(); code != 0 {
		res.err = kafka.Error(code)
	}
	res.highWatermark = w.int64()
	res.stable = w.int64()
	if version >= 5 {
		res.logStart = w.int64()
	}
	for range w.count(16) {
		res.aborted = append(res.aborted, recordbatch.Aborted{ProducerID: w.int64(), FirstOffset: w.int64()})
	}
	if version >= 11 {
		w.int32() // preferred replica: only for clients that name a rack
	}
	res.records = w.take(w.count(1))
	return res
}

// end returns the offset after the last record that may be read: with transactions
// in the log the last stable offset, and else the high watermark.
func (r *fetchResponse) end() int64 {
	if r.stable >= 0 && r.stable < r.highWatermark {
		return r.stable
	}
	return r.highWatermark
}

// wire reads big-endian values off the front of b; short is set once b ended too
// early.
type wire struct {
	b     []byte
	short bool
}

func (w *wire) take(n int) []byte {
	if n > len(w.b) {
		w.b, w.short = nil, true
		return nil
	}
	out := w.b[:n:n]
	w.b = w.b[n:]
	return out
}

func (w *wire) int16() int16 {
	if b := w.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (w *wire) int32() int32 {
	if b := w.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (w *wire) int64() int64 {
	if b := w.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (w *wire) text() string { return string(w.take(int(uint16(w.int16())))) }

// count reads how many elements of at least size bytes follow; null is none,
// and more than the bytes can hold is short.
func (w *wire) count(size int) int {
	n := int(w.int32())
	if n*size > len(w.b) {
		w.b, w.short = nil, true
		return 0
	}
	return max(n, 0)
}
