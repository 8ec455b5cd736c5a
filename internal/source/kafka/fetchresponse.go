package kafka

import (
	"encoding/binary"
	"fmt"

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
// one partition.
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
		name = w.text()
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
	w.each(func() {
		p.aborted = append(p.aborted, recordbatch.Aborted{ProducerID: w.int64(), FirstOffset: w.int64()})
		w.tags(nil)
	})
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
