// Package kafkasink sends the records of package awssdk to Kafka for a collector: as Keyheat
// JSON, one record a message, or as protobuf, many records a message.
//
//	sink := kafkasink.New(kafkasink.Options{Brokers: []string{"kafka:9092"}, Topic: "keyheat-samples"})
//	sampler, err := awssdk.Instrument(&cfg, awssdk.Options{Sink: sink})
//	…
//	sampler.Close(ctx)
//	sink.Close()
//
// Messages are keyed by table and partition key. So all samples of a key, from any process, go
// to one partition and one collector, which counts them exactly. The message key is the table's
// name, a zero byte, the partition key's type, a zero byte and its text. Partitions are chosen
// by Kafka's murmur2, as in Java producers. A failed write may have been accepted in part,
// because Kafka's producer protocol without transactions does not report it.
package kafkasink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/keyheat/keyheat/sample"
)

// Options configure a Sink. Brokers and Topic are required.
type Options struct {
	// Brokers are addresses host:port of any brokers of the cluster.
	Brokers []string
	// Topic must exist.
	Topic string
	// Transport carries TLS and SASL; nil is plain text.
	Transport *kafka.Transport
	// Protobuf sends the records of a Write in batches of package samplepb, one or more for
	// each partition. Set the collector's kafka.format to keyheat-protobuf.
	Protobuf bool
}

// Sink writes to one topic. It implements awssdk.Sink.
type Sink struct {
	writer *kafka.Writer
	// batches is nil if each record is a message of its own.
	batches *batches
}

// attempts and the time of one attempt bound how long a dead broker delays a write. Meanwhile
// the sampler collects records, within its own bound.
const (
	attempts     = 3
	writeTimeout = 5 * time.Second
)

// New returns a sink. The first Write connects.
func New(o Options) *Sink {
	w := &kafka.Writer{
		Addr: kafka.TCP(o.Brokers...), Topic: o.Topic, Balancer: byKey,
		RequiredAcks: kafka.RequireAll, Compression: kafka.Lz4,
		MaxAttempts: attempts, WriteTimeout: writeTimeout, ReadTimeout: writeTimeout,
		BatchTimeout: 10 * time.Millisecond, // a Write has a second's records, so waiting for more is useless
	}
	if o.Transport != nil {
		w.Transport = o.Transport
	}
	s := &Sink{writer: w}
	if o.Protobuf {
		s.batches = newBatches(w)
	}
	return s
}

// byKey chooses partitions as Kafka's Java producers do.
var byKey = kafka.Murmur2Balancer{Consistent: true}

// Write sends the records, and returns when all in-sync replicas have them.
func (s *Sink) Write(ctx context.Context, records []sample.Record) error {
	messages, err := s.messages(ctx, records)
	if err == nil {
		err = s.writer.WriteMessages(ctx, messages...)
	}
	unreached, is := errors.AsType[*net.OpError](err)
	switch {
	case is && unreached.Op == "dial":
		return fmt.Errorf("send samples to Kafka: no broker answers: start one, or correct the brokers' addresses: %w", unreached)
	case errors.Is(err, kafka.UnknownTopicOrPartition):
		return fmt.Errorf("send samples to Kafka: there is no topic %q, make it with kafka-topics.sh --create --topic %s --partitions N: %w", s.writer.Topic, s.writer.Topic, err)
	case err != nil:
		return fmt.Errorf("send samples to Kafka topic %s: %w", s.writer.Topic, err)
	}
	return nil
}

func (s *Sink) messages(ctx context.Context, records []sample.Record) ([]kafka.Message, error) {
	if s.batches != nil {
		return s.batches.encode(ctx, records)
	}
	messages := make([]kafka.Message, len(records))
	for i := range records {
		r := &records[i]
		messages[i] = kafka.Message{Key: key(r), Value: r.AppendJSON(nil), Time: time.UnixMilli(r.Time)}
	}
	return messages, nil
}

// Close closes the connections. Close the sampler first.
func (s *Sink) Close() error {
	return s.writer.Close()
}

// key returns the message key. It is the same for all records of a partition key, including
// equal keys of the table's indexes, and differs for all others.
func key(r *sample.Record) []byte {
	k := make([]byte, 0, len(r.Table)+len(r.PK.Type)+len(r.PK.Text)+2)
	k = append(append(k, r.Table...), 0)
	k = append(append(k, r.PK.Type...), 0)
	return append(k, r.PK.Text...)
}
