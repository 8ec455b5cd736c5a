package generate

import (
	"context"
	"fmt"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/kafkasink"
)

// Batches writes samples to Kafka as protobuf, many in a message, as the sink of
// producers does.
type Batches struct {
	sink    *kafkasink.Sink
	records []sample.Record
}

// NewBatches returns a sink that has not connected yet. A batch holds the samples of one
// partition, so that they are partitioned by key.
func NewBatches(o KafkaOptions) (*Batches, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.By != ByKey && o.By != "" {
		return nil, fmt.Errorf("partition by %q: batches are made by %s", o.By, ByKey)
	}
	return &Batches{sink: kafkasink.New(kafkasink.Options{Brokers: o.Brokers, Topic: o.Topic, Protobuf: true})}, nil
}

// Write keeps one sample, and sends the kept ones when they are many.
func (b *Batches) Write(ctx context.Context, r *sample.Record) error {
	if b.records = append(b.records, r.Clone()); len(b.records) < kafkaMessages {
		return nil
	}
	return b.Flush(ctx)
}

// Flush sends the kept samples and waits until every in-sync replica has them.
func (b *Batches) Flush(ctx context.Context) error {
	if len(b.records) == 0 {
		return nil
	}
	err := b.sink.Write(ctx, b.records)
	b.records = b.records[:0]
	return err
}

// Close ends the connections.
func (b *Batches) Close() error { return b.sink.Close() }
