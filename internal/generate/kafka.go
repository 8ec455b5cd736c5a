package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/keyheat/keyheat/sample"
)

// Partitioning is how a sample's partition is chosen.
type Partitioning string

// The partitionings. ByKey keeps a key's samples together, as producers should; Random
// spreads them, the hardest case for a collector's bounds.
const (
	ByKey  Partitioning = "key"
	Random Partitioning = "random"
)

// KafkaOptions is where samples go.
type KafkaOptions struct {
	// Brokers are host:port of some brokers.
	Brokers []string
	// Topic is there already.
	Topic string
	// By chooses the partition; ByKey when empty.
	By Partitioning
	// Seed determines the draws of Random.
	Seed uint64
}

func (o *KafkaOptions) check() error {
	if len(o.Brokers) == 0 || o.Topic == "" {
		return errors.New("kafka sink: name at least one broker, and the topic")
	}
	return nil
}

// Sizes of one request. A partition's request is one record batch.
const (
	kafkaMessages = 20_000  // of one call, over all partitions
	kafkaBatch    = 5_000   // of one partition's request
	kafkaBytes    = 900_000 // of the same, under a broker's default of 1 MB
	kafkaLinger   = 2 * time.Millisecond
)

// Kafka writes one message for each sample, with the sample's own time, so that the
// topic's time is event time. Delivery is at least once: after a lost response it sends
// the batch again, so that only a reader knows the topic's content.
type Kafka struct {
	writer   *kafka.Writer
	keyed    bool
	messages []kafka.Message
	text     []byte
}

// NewKafka returns a sink that has not connected yet.
func NewKafka(o KafkaOptions) (*Kafka, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	k := &Kafka{keyed: true}
	// Java's own hash, so that other producers choose the same partition.
	var balancer kafka.Balancer = kafka.Murmur2Balancer{Consistent: true}
	switch o.By {
	case ByKey, "":
	case Random:
		draw := rand.New(rand.NewPCG(o.Seed, 1))
		k.keyed, balancer = false, kafka.BalancerFunc(func(_ kafka.Message, partitions ...int) int {
			return partitions[draw.IntN(len(partitions))]
		})
	default:
		return nil, fmt.Errorf("partition by %q: write %s or %s", o.By, ByKey, Random)
	}
	k.writer = &kafka.Writer{
		Addr: kafka.TCP(o.Brokers...), Topic: o.Topic, Balancer: balancer,
		BatchSize: kafkaBatch, BatchBytes: kafkaBytes, BatchTimeout: kafkaLinger,
		RequiredAcks: kafka.RequireAll, Compression: kafka.Lz4,
		// A transport of its own, whose connections end with this sink.
		Transport: &kafka.Transport{},
	}
	return k, nil
}

// Write buffers one sample, and sends the buffered ones when they are many.
func (k *Kafka) Write(ctx context.Context, r *sample.Record) error {
	begin := len(k.text)
	if k.keyed {
		k.text = append(k.text, r.Table...)
		k.text = append(k.text, 0)
		k.text = append(k.text, r.PK.Text...)
	}
	value := len(k.text)
	k.text = r.AppendJSON(k.text)
	m := kafka.Message{Value: k.text[value:len(k.text):len(k.text)], Time: time.UnixMilli(r.Time)}
	if k.keyed {
		m.Key = k.text[begin:value:value]
	}
	k.messages = append(k.messages, m)
	if len(k.messages) < kafkaMessages {
		return nil
	}
	return k.Flush(ctx)
}

// Flush sends the buffered samples and waits until every in-sync replica has them.
func (k *Kafka) Flush(ctx context.Context) error {
	if len(k.messages) == 0 {
		return nil
	}
	err := k.writer.WriteMessages(ctx, k.messages...)
	k.messages, k.text = k.messages[:0], k.text[:0]
	if err != nil {
		return fmt.Errorf("send samples to the topic %s: %w", k.writer.Topic, firstError(err))
	}
	return nil
}

// firstError returns the error of the first message that failed, with the count:
// kafka-go returns an error for every message of a call.
func firstError(err error) error {
	var each kafka.WriteErrors
	if !errors.As(err, &each) {
		return err
	}
	for _, one := range each {
		if one != nil {
			return fmt.Errorf("%d of %d failed, the first: %w", each.Count(), len(each), one)
		}
	}
	return err
}

// Close ends the connections.
func (k *Kafka) Close() error {
	err := k.writer.Close()
	if t, ok := k.writer.Transport.(*kafka.Transport); ok {
		t.CloseIdleConnections()
	}
	if errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}
