// Package kafkasink sends the records of sample/awssdk to Kafka, as a
// collector reads them: Keyheat JSON, a record a message, or protobuf, many records a
// message.
//
//	sink := kafkasink.New(kafkasink.Options{Brokers: []string{"kafka:9092"}, Topic: "keyheat-samples"})
//	sampler, err := awssdk.Instrument(&cfg, awssdk.Options{Sink: sink})
//	…
//	sampler.Close(ctx)
//	sink.Close()
//
// Messages are keyed by table and partition key, so that all samples of a key,
// from any process, lie in one partition and meet in one collector: its counts
// are exact there. The key is the table's name, a zero byte, the partition
// key's type, a zero byte and its text; Kafka's own murmur2 spreads it, as a
// Java producer would. A write that fails may have been taken in part, since
// Kafka's producer protocol without transactions cannot tell.
package kafkasink

import (
	"context"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/keyheat/keyheat/sample"
)

// Options say where to. Brokers and Topic must be set.
type Options struct {
	// Brokers are host:port, any of the cluster.
	Brokers []string
	// Topic must exist.
	Topic string
	// Transport carries TLS and SASL; nil is plain text.
	Transport *kafka.Transport
	// Protobuf has the records of a Write that belong into one partition sent as batches
	// of package samplepb. The collector's kafka.format has to say keyheat-protobuf.
	Protobuf bool
}

// Sink writes to one topic. It is what awssdk.Options.Sink takes.
type Sink struct {
	writer *kafka.Writer
	// batches makes messages of many records; nil where each is one of its own.
	batches *batches
}

// attempts and the time of one bound how long a dead broker holds a write up:
// meanwhile the sampler gathers, within its own bound.
const (
	attempts     = 3
	writeTimeout = 5 * time.Second
)

// New makes a sink. It does not connect; the first Write does.
func New(o Options) *Sink {
	w := &kafka.Writer{
		Addr: kafka.TCP(o.Brokers...), Topic: o.Topic, Balancer: byKey,
		RequiredAcks: kafka.RequireAll, Compression: kafka.Lz4,
		MaxAttempts: attempts, WriteTimeout: writeTimeout, ReadTimeout: writeTimeout,
		BatchTimeout: 10 * time.Millisecond, // a Write brings a second's records: there is nothing to wait for
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

// byKey is Kafka's own choice of a partition, as Java producers make it.
var byKey = kafka.Murmur2Balancer{Consistent: true}

// Write sends the records, and returns when all in-sync replicas have them.
func (s *Sink) Write(ctx context.Context, records []sample.Record) error {
	messages, err := s.messages(ctx, records)
	if err == nil {
		err = s.writer.WriteMessages(ctx, messages...)
	}
	if err != nil {
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

// key returns the same for all records of a key, also those of its indexes with an
// equal one, and for no others.
func key(r *sample.Record) []byte {
	k := make([]byte, 0, len(r.Table)+len(r.PK.Type)+len(r.PK.Text)+2)
	k = append(append(k, r.Table...), 0)
	k = append(append(k, r.PK.Type...), 0)
	return append(k, r.PK.Text...)
}
