package kafka_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/sinktest"
)

// TestKafkaReadsInLittleMemory: partitions hold many times the budget together. Each record
// is read once, even if it does not fit into the budget. A sink that is away for a while
// pauses all partitions.
func TestKafkaReadsInLittleMemory(t *testing.T) {
	t.Parallel()
	const partitions, each = 12, 6
	c := cluster(t, partitions)
	p := producer(t, c.ListenAddrs(), kgo.ProducerBatchMaxBytes(16<<20), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	zstd := producer(t, c.ListenAddrs(), kgo.ProducerBatchMaxBytes(16<<20), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.ZstdCompression()))
	for i := range each {
		for partition := range int32(partitions) {
			client, size := p, 300<<10
			if i%2 == 0 {
				client, size = zstd, 5<<20
			}
			value := fmt.Sprintf("%d %d %s", partition, i, strings.Repeat(" ", size))
			must.Succeed(t, client.ProduceSync(soon(t), &kgo.Record{Partition: partition, Value: []byte(value)}).FirstErr())
		}
	}
	cfg := config(c.ListenAddrs())
	cfg.MemoryBytes = 4 << 20
	l := sinktest.New()
	l.With(func() { l.Away = true })
	k, _ := run(t, cfg, l)
	sinktest.Eventually(t, "the group is joined", func() bool { return len(k.Ready()) == 0 })
	l.With(func() { l.Away = false })
	l.Expect(t, partitions*each)
	if gaps := l.Gaps(); len(gaps) > 0 {
		t.Errorf("gaps: %+v", gaps)
	}
}
