package kafka

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/segmentio/kafka-go"

	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
)

// partitionData is what a fetch response says of its one partition.
type partitionData struct {
	// highWatermark is the offset after the last record that all replicas have,
	// lastStable that after which a transaction may still be open, logStart that of the
	// oldest record; -1 where the response does not say so.
	highWatermark, lastStable, logStart int64
	// diverged is where the leader's log differs from what was fetched before; -1 where
	// it does not.
	diverged int64
	aborted  []recordbatch.Aborted
	records  []byte // part of the response
	err      error  // the partition's error; nil, or a kafka.Error
}

// divergingEpoch is the tag of a partition with the epoch and the offset at which the
// logs part.
const divergingEpoch = 0

// parse reads the response to a fetch in the given version, and checks that it is of the
// one partition. kmsg's own decoder is not used, because it goes through as many tags as
// a response claims, which may take minutes, and makes as many partitions as it claims.
func (r *fetchRequest) parse(body []byte, version int16) (partitionData, error) {
	w := wire{rest: body, flexible: version >= fetchFlexible}
	w.int32() // how long the broker throttled the client
	var code int16
	if version >= 7 {
		code = w.int16()
		w.int32() // the fetch session, of which there is none
	}
	if code != 0 {
		return partitionData{}, kafka.Error(code)
	}
	if n := w.length(); n != 1 {
		return partitionData{}, w.or(fmt.Errorf("fetch response holds %d topics, asked for 1", n))
	}
	var name string
	var id topicID
	if version >= fetchByID {
		copy(id[:], w.bytes(len(id)))
	} else {
		name = string(w.bytes(w.shortLength()))
	}
	if n := w.length(); n != 1 {
		return partitionData{}, w.or(fmt.Errorf("fetch response holds %d partitions, asked for 1", n))
	}
	number := w.int32()
	p := r.partitionData(&w, version)
	w.tags(nil) // of the topic
	w.tags(nil) // of the response
	if err := w.end(); err != nil {
		return partitionData{}, err
	}
	same := name == r.topic
	if version >= fetchByID {
		same = id == r.id
	}
	if !same || number != r.partition {
		return partitionData{}, fmt.Errorf("fetch response is of %s %s/%d, asked for %s %s/%d", name, id, number, r.topic, r.id, r.partition)
	}
	return p, nil
}

// partitionData reads what follows a partition's number.
func (r *fetchRequest) partitionData(w *wire, version int16) partitionData {
	p := partitionData{logStart: -1, diverged: -1}
	if code := w.int16(); code != 0 {
		p.err = kafka.Error(code)
	}
	p.highWatermark, p.lastStable = w.int64(), w.int64()
	if version >= 5 {
		p.logStart = w.int64()
	}
	for range max(w.length(), 0) {
		if w.err != nil {
			break
		}
		p.aborted = append(p.aborted, recordbatch.Aborted{ProducerID: w.int64(), FirstOffset: w.int64()})
		w.tags(nil)
	}
	if version >= 11 {
		w.int32() // the replica to read from, which a rack alone gets
	}
	p.records = w.bytes(max(w.length(), 0))
	w.tags(func(tag uint64, value []byte) {
		if tag == divergingEpoch && len(value) >= 12 {
			p.diverged = int64(binary.BigEndian.Uint64(value[4:]))
		}
	})
	return p
}

// wire reads the fields of a response in turn. After one that the response is too short
// for, all are zero and err says so.
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

// shortLength is length, of a text.
func (w *wire) shortLength() int {
	if !w.flexible {
		return int(w.int16())
	}
	return w.compactLength()
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
		return fmt.Errorf("fetch response has %d bytes after its end", len(w.rest))
	}
	return w.err
}
