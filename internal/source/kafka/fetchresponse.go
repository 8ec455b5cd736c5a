package kafka

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/segmentio/kafka-go"

	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
	"github.com/keyheat/keyheat/internal/source/kafka/wire"
)

// partitionData is one partition of a fetch response.
type partitionData struct {
	// highWatermark is the offset after the last record that all replicas have. lastStable
	// is the offset of the oldest transaction that may be open. logStart is the offset of
	// the oldest record. They are -1 if the response lacks them.
	highWatermark, lastStable, logStart int64
	// diverged is the offset from which the leader's log differs from the fetched records;
	// -1 if it does not.
	diverged int64
	aborted  []recordbatch.Aborted
	records  []byte // part of the response
	err      error  // the partition's error; nil, or a kafka.Error
}

// divergingEpoch is the tag of a partition with the epoch and the offset at which the logs
// diverge.
const divergingEpoch = 0

// end returns the offset after the last record that may be read: with transactions
// in the log the last stable offset, and else the high watermark.
func (p *partitionData) end() int64 {
	if p.lastStable >= 0 && p.lastStable < p.highWatermark {
		return p.lastStable
	}
	return p.highWatermark
}

// parse decodes a fetch response of the given version. The response must have each
// requested partition once.
func (r *fetchRequest) parse(body []byte, version int16) ([]partitionData, error) {
	w := wire.NewReader(body, version >= fetchFlexible)
	w.Int32() // how long the broker throttled the client
	var code int16
	if version >= 7 {
		code = w.Int16()
		w.Int32() // the fetch session; this client uses none
	}
	if code != 0 {
		return nil, kafka.Error(code)
	}
	all := make([]partitionData, len(r.parts))
	unread := slices.Clone(r.parts) // a part without a topic was read
	left, at := len(all), 0
	w.Each(func() {
		named := fetchPart{}
		if version >= fetchByID {
			copy(named.id[:], w.Bytes(len(named.id)))
		} else {
			named.topic = w.Text()
		}
		w.Each(func() {
			named.partition = w.Int32()
			p := readPartition(&w, version)
			if at = findPart(unread, at, named, version); at < 0 {
				w.Err = w.ErrOr(fmt.Errorf("fetch response is of %s, which was not asked for, or is there twice", named))
				return
			}
			all[at], unread[at] = p, fetchPart{}
			left--
		})
		w.Tags(nil)
	})
	w.Tags(nil)
	switch err := w.End(); {
	case err != nil:
		return nil, err
	case left > 0:
		return nil, fmt.Errorf("fetch response lacks %d of %d partitions that were asked for", left, len(all))
	}
	return all, nil
}

// findPart returns the index of the partition that a response names, -1 for none. It starts
// at begin, because brokers answer in the order of the request.
func findPart(parts []fetchPart, begin int, named fetchPart, version int16) int {
	for i := range parts {
		at := (begin + i) % len(parts)
		same := parts[at].topic == named.topic
		if version >= fetchByID {
			same = parts[at].id == named.id
		}
		if same && parts[at].partition == named.partition && parts[at].topic != "" {
			return at
		}
	}
	return -1
}

// readPartition decodes a partition's data after its number.
func readPartition(w *wire.Reader, version int16) partitionData {
	p := partitionData{logStart: -1, diverged: -1}
	if code := w.Int16(); code != 0 {
		p.err = kafka.Error(code)
	}
	p.highWatermark, p.lastStable = w.Int64(), w.Int64()
	if version >= 5 {
		p.logStart = w.Int64()
	}
	w.Each(func() {
		p.aborted = append(p.aborted, recordbatch.Aborted{ProducerID: w.Int64(), FirstOffset: w.Int64()})
		w.Tags(nil)
	})
	if version >= 11 {
		w.Int32() // the preferred replica; brokers set it for clients with a rack
	}
	p.records = w.Bytes(max(w.Length(), 0))
	w.Tags(func(tag uint64, value []byte) {
		if tag == divergingEpoch && len(value) >= 12 {
			p.diverged = int64(binary.BigEndian.Uint64(value[4:]))
		}
	})
	return p
}
