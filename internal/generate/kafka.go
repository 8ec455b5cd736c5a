package generate

import (
	"context"
	"errors"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/kafkasink"
)

// kafkaRecords is how many samples are sent at once, over all partitions.
const kafkaRecords = 20_000

// Kafka sends samples as producers do: all samples of a key to one partition. Delivery is at
// least once.
type Kafka struct {
	sink    *kafkasink.Sink
	records []sample.Record
}

// NewKafka returns a sink that has not connected yet. The topic must exist.
func NewKafka(o kafkasink.Options) (*Kafka, error) {
	if len(o.Brokers) == 0 || o.Topic == "" {
		return nil, errors.New("kafka sink: name at least one broker, and the topic")
	}
	return &Kafka{sink: kafkasink.New(o)}, nil
}

// Write keeps one sample, and sends the kept ones when they are many.
func (k *Kafka) Write(ctx context.Context, r *sample.Record) error {
	if k.records = append(k.records, r.Clone()); len(k.records) < kafkaRecords {
		return nil
	}
	return k.Flush(ctx)
}

// Flush sends the kept samples and waits until every in-sync replica has them.
func (k *Kafka) Flush(ctx context.Context) error {
	if len(k.records) == 0 {
		return nil
	}
	err := k.sink.Write(ctx, k.records)
	k.records = k.records[:0]
	return err
}

// Close ends the connections.
func (k *Kafka) Close() error { return k.sink.Close() }
