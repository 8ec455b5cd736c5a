package kafka

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"

	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
)

// The supported versions of the Fetch API. Version 4 (Kafka 0.11)
// added the list of aborted transactions, which is needed; 11
// is the last that kafka-go negotiates, and Kafka 4 still serves 4 to 11.
const (
	fetchOldest = 4
	fetchNewest = 11
)

// readCommitted requests records up to the last stable offset, and for the
// aborted transactions among them.
const readCommitted = 1

// fetchRequest is one Fetch exchange for one partition. kafka-go gives it a
// connection to the partition's leader (pooled, with TLS and SASL done) and
// leaves the bytes to it, so that a response lies whole in one reused buffer.
//
// A request is used once: when its context ends, the exchange goes on in the
// background until its deadline, and still owns the buffer.
type fetchRequest struct {
	topic     string
	partition int32
	offset    int64
	maxWait   time.Duration
	maxBytes  int32
	// limit is the most bytes of a response that are taken.
	limit    int
	clientID string
	// buf is the buffer to read into; the response returns it.
	buf []byte

	version int16
}

// fetchResponse is the leader's response for the one partition.
type fetchResponse struct {
	err error // the partition's error; nil, or a kafka.Error
	// highWatermark is the end of the replicated log, stable that of the
	// decided transactions, logStart the first offset that is still there;
	// each -1 when not given.
	highWatermark, stable, logStart int64
	aborted                         []recordbatch.Aborted
	records                         []byte // points into buf
	buf                             []byte
	asked                           time.Time // before the request was sent
}

var (
	_ protocol.BrokerMessage = (*fetchRequest)(nil)
	_ protocol.RawExchanger  = (*fetchRequest)(nil)
)

// ApiKey names the API; kafka-go's spelling.
func (r *fetchRequest) ApiKey() protocol.ApiKey { return protocol.Fetch }

// ApiKey names the API; kafka-go's spelling.
func (r *fetchResponse) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Broker routes the request to the partition's leader.
func (r *fetchRequest) Broker(c protocol.Cluster) (protocol.Broker, error) {
	route := fetch.Request{Topics: []fetch.RequestTopic{{
		Topic:      r.topic,
		Partitions: []fetch.RequestPartition{{Partition: r.partition}},
	}}}
	return route.Broker(c)
}

// Required takes every exchange over, at the version that was negotiated.
func (r *fetchRequest) Required(versions map[protocol.ApiKey]int16) bool {
	r.version = versions[protocol.Fetch]
	return true
}

// RawExchange writes the request and reads the response. After an error
// kafka-go closes the connection.
func (r *fetchRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if r.version < fetchOldest || r.version > fetchNewest {
		return nil, fmt.Errorf("the broker offers fetch version %d; versions %d to %d are supported: use Kafka 0.11 or later", r.version, fetchOldest, fetchNewest)
	}
	r.buf = r.appendTo(r.buf[:0])
	if _, err := rw.Write(r.buf); err != nil {
		return nil, fmt.Errorf("send fetch request: %w", err)
	}
	if err := r.readInto(rw); err != nil {
		return nil, fmt.Errorf("read fetch response: %w", err)
	}
	return parseFetch(r.buf, r.version, r.topic, r.partition)
}

// correlation is the id of every request: a connection carries one exchange at
// a time, so that any constant identifies a stray response.
const correlation = 0x6b68 // "kh"

func (r *fetchRequest) appendTo(b []byte) []byte {
	be := binary.BigEndian
	b = append(b, 0, 0, 0, 0) // size, at the end
	b = be.AppendUint16(b, uint16(protocol.Fetch))
	b = be.AppendUint16(b, uint16(r.version))
	b = be.AppendUint32(b, correlation)
	b = appendString(b, r.clientID)
	b = be.AppendUint32(b, ^uint32(0)) // replica: a consumer
	b = be.AppendUint32(b, uint32(r.maxWait.Milliseconds()))
	b = be.AppendUint32(b, 1) // least bytes to wait for
	b = be.AppendUint32(b, uint32(r.maxBytes))
	b = append(b, readCommitted)
	if r.version >= 7 { // no fetch session: id 0, epoch -1
		b = be.AppendUint32(b, 0)
		b = be.AppendUint32(b, ^uint32(0))
	}
	b = be.AppendUint32(b, 1) // topics
	b = appendString(b, r.topic)
	b = be.AppendUint32(b, 1) // partitions
	b = be.AppendUint32(b, uint32(r.partition))
	if r.version >= 9 {
		b = be.AppendUint32(b, ^uint32(0)) // leader epoch: not known
	}
	b = be.AppendUint64(b, uint64(r.offset))
	if r.version >= 5 {
		b = be.AppendUint64(b, ^uint64(0)) // log start: for followers only
	}
	b = be.AppendUint32(b, uint32(r.maxBytes))
	if r.version >= 7 {
		b = be.AppendUint32(b, 0) // topics to forget
	}
	if r.version >= 11 {
		b = appendString(b, "") // rack: read from the leader
	}
	be.PutUint32(b, uint32(len(b)-4))
	return b
}

func appendString(b []byte, s string) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
	return append(b, s...)
}

// readInto reads one whole response into the buffer.
func (r *fetchRequest) readInto(rw io.Reader) error {
	var size [4]byte
	if _, err := io.ReadFull(rw, size[:]); err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint32(size[:]))
	if n > r.limit {
		return fmt.Errorf("%d bytes exceed the limit of %d: raise the largest batch size to the topic's max.message.bytes", n, r.limit)
	}
	r.buf = slices.Grow(r.buf[:0], n)[:n]
	_, err := io.ReadFull(rw, r.buf)
	return err
}
