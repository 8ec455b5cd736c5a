package kafkasink

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/samplepb"
)

// The most records and bytes of a message. Plain records make some 40 KB. The bytes stay under
// a broker's default of 1 MB for any texts.
const (
	batchRecords = 2000
	batchBytes   = 500_000
)

// partitionsFor is how long the number of partitions is cached. Java producers cache it for
// five minutes.
const partitionsFor = time.Minute

// batches encodes the records of each partition into messages.
type batches struct {
	client     *kafka.Client
	topic      string
	partitions []int
	asked      time.Time
	encoder    *samplepb.Encoder
}

// newBatches also makes the writer send each message to its partition.
func newBatches(w *kafka.Writer) *batches {
	w.Balancer = kafka.BalancerFunc(func(m kafka.Message, _ ...int) int {
		return m.WriterData.(int)
	})
	return &batches{client: &kafka.Client{Addr: w.Addr, Transport: w.Transport}, topic: w.Topic, encoder: samplepb.NewEncoder()}
}

// encode returns the messages of the records. A message has the time of its last record, so a
// counted message means that its partition is counted up to that time.
func (b *batches) encode(ctx context.Context, records []sample.Record) ([]kafka.Message, error) {
	if err := b.ask(ctx); err != nil {
		return nil, err
	}
	parts := make(map[int][]sample.Record)
	for i := range records {
		r := &records[i]
		in := byKey.Balance(kafka.Message{Key: key(r)}, b.partitions...)
		parts[in] = append(parts[in], *r)
	}
	var messages []kafka.Message
	for _, in := range b.partitions {
		for rest := parts[in]; len(rest) > 0; {
			var some []sample.Record
			some, rest = samplepb.CutBatch(rest, batchRecords, batchBytes)
			last := slices.MaxFunc(some, func(x, y sample.Record) int { return int(x.Time - y.Time) })
			messages = append(messages, kafka.Message{
				Value: b.encoder.Append(nil, some), Time: time.UnixMilli(last.Time), WriterData: in,
			})
		}
	}
	return messages, nil
}

// ask loads the topic's partitions, unless they are cached.
func (b *batches) ask(ctx context.Context) error {
	if time.Since(b.asked) < partitionsFor {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	m, err := b.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{b.topic}})
	if err != nil {
		return err
	}
	if len(m.Topics) != 1 || m.Topics[0].Error == nil && len(m.Topics[0].Partitions) == 0 {
		return fmt.Errorf("its partitions are unknown: %v", m.Topics)
	}
	if err := m.Topics[0].Error; err != nil {
		return err
	}
	b.partitions = b.partitions[:0]
	for _, p := range m.Topics[0].Partitions {
		b.partitions = append(b.partitions, p.ID)
	}
	slices.Sort(b.partitions)
	b.asked = time.Now()
	return nil
}
