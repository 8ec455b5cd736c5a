package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
	"github.com/keyheat/keyheat/internal/source/kafka/wire"
)

// Supported versions of the Fetch API. Version 4 (Kafka 0.11) added the list of aborted
// transactions, needed here. Version 13 (Kafka 3.1) names topics by id, so that a recreated
// topic is an error. Kafka 4 still serves all of them.
const (
	fetchOldest = 4
	fetchByID   = 13
	fetchNewest = 13
)

// readCommitted requests records up to the last stable offset, and for the
// aborted transactions among them.
const readCommitted = 1

// fetchRequest is one Fetch exchange with the leader of all its parts. The response lies
// whole in one buffer.
//
// A request is used once: when its context ends, the exchange goes on in the
// background until its deadline, and still owns the buffer.
type fetchRequest struct {
	versions *wire.Versions
	parts    []fetchPart
	maxWait  time.Duration
	maxBytes int32
	// limit is the largest accepted response, in bytes.
	limit    int
	clientID string
	// hold has the response's memory.
	hold *source.Hold
}

var _ protocol.RawExchanger = (*fetchRequest)(nil)

// fetchPart requests records of one partition.
type fetchPart struct {
	topic     string
	id        topicID // zero when it is not known: the topic is fetched by name
	partition int32
	offset    int64
	// epoch is the leader epoch of the record before offset, -1 if unknown. With it the
	// leader reports whether its log diverged before offset (KIP-595).
	epoch int32
}

func (p fetchPart) String() string { return fmt.Sprintf("%s %s/%d", p.topic, p.id, p.partition) }

// fetched is a leader's response.
type fetched struct {
	parts   []partitionData // in the request's order; their records point into buf
	version int16
	buf     []byte
	asked   time.Time // before the request was sent
}

// fetchResponse is the leader's response for one partition.
type fetchResponse struct {
	partitionData // its records point into buf
	version       int16
	buf           []byte
	asked         time.Time // before the request was sent
	hold          *source.Hold
	held          int // needed bytes of the hold
	decoder       *recordbatch.Decoder
}

// responseBuffers are unused buffers of the usual fetch size.
var responseBuffers = source.NewBuffers(2 * defaults.FetchBytes)

// decoders are unused decoders. No budget counts their buffers, so only as many are kept as
// a few cores need.
var decoders = make(chan *recordbatch.Decoder, 4)

// decode begins to decode the response's records from an offset on.
func (r *fetchResponse) decode(offset int64, limit int) *recordbatch.Decoder {
	select {
	case r.decoder = <-decoders:
	default:
		r.decoder = new(recordbatch.Decoder)
	}
	r.decoder.Reset(offset, r.RecordBatches, r.AbortedTransactions, recordbatch.Limits{Record: limit, Memory: r.grow})
	return r.decoder
}

// release gives the response's memory back. The response may not be used afterwards.
func (r *fetchResponse) release() {
	if r.decoder != nil {
		r.decoder.Reset(0, nil, nil, recordbatch.Limits{})
		select {
		case decoders <- r.decoder:
		default:
		}
	}
	if r.buf != nil {
		responseBuffers.Keep(r.buf)
	}
	r.decoder, r.buf, r.RecordBatches = nil, nil, nil
	r.hold.Release()
}

// shortError reports that others hold the memory. The caller waits for that many bytes.
type shortError struct{ bytes int }

func (e *shortError) Error() string { return fmt.Sprintf("%d bytes are not free", e.bytes) }

// grow requests memory beside the response's own.
func (r *fetchResponse) grow(beside int) error {
	need := len(r.buf) + beside
	if !r.hold.Grow(int64(need)) {
		return errors.Join(&shortError{need}, recordbatch.ErrMemory)
	}
	r.held = max(r.held, need)
	return nil
}

// ApiKey names the API; kafka-go's spelling.
func (r *fetchRequest) ApiKey() protocol.ApiKey { return protocol.Fetch }

// ApiKey names the API; kafka-go's spelling.
func (r *fetched) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Broker routes the request to the first part's leader.
func (r *fetchRequest) Broker(c protocol.Cluster) (protocol.Broker, error) {
	route := fetch.Request{Topics: []fetch.RequestTopic{{
		Topic:      r.parts[0].topic,
		Partitions: []fetch.RequestPartition{{Partition: r.parts[0].partition}},
	}}}
	return route.Broker(c)
}

// Required accepts every exchange.
func (r *fetchRequest) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange writes the request and reads the response. After an error
// kafka-go closes the connection.
func (r *fetchRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	version, err := r.version(rw)
	if err != nil {
		return nil, err
	}
	body, buf, err := wire.Bytes(rw, r.clientID, r.request(version), r.buffer)
	if large := (*wire.TooLargeError)(nil); errors.As(err, &large) {
		return nil, fmt.Errorf("the batch at offset %d: %w: raise kafka.max_batch to the topic's max.message.bytes", r.parts[0].offset, err)
	}
	if err != nil {
		return nil, err
	}
	parts, err := r.parse(body, version)
	if err != nil {
		return nil, err
	}
	return &fetched{parts: parts, version: version, buf: buf}, nil
}

func (r *fetchRequest) buffer(n int) ([]byte, error) {
	switch {
	case n > r.limit:
		return nil, &wire.TooLargeError{Size: n, Limit: r.limit}
	case !r.hold.Grow(int64(n)):
		return nil, &shortError{n}
	}
	return responseBuffers.Get(n), nil
}

func (r *fetchRequest) version(rw io.ReadWriter) (int16, error) {
	version, err := r.versions.Newest(rw, r.clientID, kmsg.Fetch.Int16())
	if err != nil {
		return 0, err
	}
	if version < fetchOldest {
		return 0, fmt.Errorf("the broker offers fetch version %d; versions %d to %d are supported: use Kafka 0.11 or later", version, fetchOldest, fetchNewest)
	}
	version = min(version, fetchNewest)
	if slices.ContainsFunc(r.parts, func(p fetchPart) bool { return p.id == (topicID{}) }) {
		version = min(version, fetchByID-1)
	}
	return version, nil
}

// request returns the request, without a fetch session.
func (r *fetchRequest) request(version int16) *kmsg.FetchRequest {
	q := kmsg.NewPtrFetchRequest()
	q.Version, q.MaxWaitMillis, q.MinBytes, q.MaxBytes = version, int32(r.maxWait.Milliseconds()), 1, r.maxBytes
	q.IsolationLevel, q.SessionID, q.SessionEpoch = readCommitted, 0, -1
	for _, part := range r.parts {
		if last := len(q.Topics) - 1; last < 0 || q.Topics[last].Topic != part.topic {
			t := kmsg.NewFetchRequestTopic()
			t.Topic, t.TopicID = part.topic, part.id
			q.Topics = append(q.Topics, t)
		}
		t := &q.Topics[len(q.Topics)-1]
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.LastFetchedEpoch, p.PartitionMaxBytes = part.partition, part.offset, part.epoch, r.maxBytes
		t.Partitions = append(t.Partitions, p)
	}
	return q
}

// parse decodes a fetch response of the given version. The response must have each
// requested partition.
func (r *fetchRequest) parse(body []byte, version int16) ([]partitionData, error) {
	response := kmsg.FetchResponse{Version: version}
	if err := response.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("fetch response: %w", err)
	}
	if err := codeError(response.ErrorCode); err != nil {
		return nil, err
	}
	// A response names its topics as the request does: by name, or by id.
	type name struct {
		topic     string
		id        topicID
		partition int32
	}
	found := make(map[name]partitionData, len(r.parts))
	for _, t := range response.Topics {
		for _, p := range t.Partitions {
			found[name{t.Topic, t.TopicID, p.Partition}] = partitionData{p}
		}
	}
	all := make([]partitionData, len(r.parts))
	for i, part := range r.parts {
		named := name{topic: part.topic, partition: part.partition}
		if version >= fetchByID {
			named = name{id: part.id, partition: part.partition}
		}
		data, answered := found[named]
		if !answered {
			return nil, fmt.Errorf("fetch response lacks %s, which was asked for", part)
		}
		all[i] = data
	}
	return all, nil
}

// fetchRequest returns a request to the leader of all parts. bytes bounds each partition
// and the response as a whole, except for one larger batch.
func (k *Source) fetchRequest(l *connection, parts []fetchPart, wait time.Duration, bytes int, hold *source.Hold) *fetchRequest {
	return &fetchRequest{
		versions: &l.versions, parts: parts, maxWait: wait, maxBytes: int32(bytes),
		limit: k.config.MaxBatchBytes + k.config.FetchBytes, clientID: k.config.ClientID, hold: hold,
	}
}

// fetch makes a request. After an error its memory is given back.
func (k *Source) fetch(ctx context.Context, l *connection, request *fetchRequest) (*fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, request.maxWait+k.config.RequestTimeout)
	defer cancel()
	asked := time.Now()
	response, err := l.transport.RoundTrip(ctx, l.client.Addr, request)
	if err != nil {
		request.hold.Release()
		return nil, err
	}
	f := response.(*fetched)
	f.asked = asked
	return f, nil
}
