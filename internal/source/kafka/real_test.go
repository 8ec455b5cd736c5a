//go:build e2e

package kafka_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/kafka"
	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/sinktest"
	"github.com/keyheat/keyheat/sample"
)

func TestRealKafkaTransactionsAndHardStops(t *testing.T) {
	s := kafkatest.Start(t)
	s.CreateTopic(t, topic, 4)
	addrs := []string{s.Addr}
	l := sinktest.New()
	run(t, config(addrs), l)
	p := producer(t, addrs, kgo.TransactionalID("writer"))
	committed := 0
	for i := range 12 {
		if err := p.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		produce(t, p, 1000+50*i, 1050+50*i)
		commit := i%3 != 0
		if err := p.EndTransaction(t.Context(), kgo.TransactionEndTry(commit)); err != nil {
			t.Fatal(err)
		}
		if commit {
			committed += 50
		}
	}
	l.Expect(t, committed)
	s.Kill(t)
	s.Restart(t)
	produce(t, producer(t, addrs), 5000, 5100)
	l.Expect(t, committed+100)
	l.With(func() {
		for v := range l.Counted {
			n, err := strconv.Atoi(v)
			if err != nil {
				t.Errorf("value %q was counted, which nobody produced", v)
			}
			if n < 5000 && (n-1000)/50%3 == 0 {
				t.Errorf("value %s of an aborted transaction was counted", v)
			}
		}
	})
	if gaps := l.Gaps(); len(gaps) != 0 {
		t.Errorf("gaps: %+v", gaps)
	}
}

func TestRealKafkaRebalancesCountOnce(t *testing.T) {
	s := kafkatest.Start(t)
	s.CreateTopic(t, topic, 8)
	addrs := []string{s.Addr}
	l := sinktest.New()
	run(t, config(addrs), l)
	p := producer(t, addrs)
	for round := range 5 {
		produce(t, p, 2000*round, 2000*round+1000)
		_, leave := run(t, config(addrs), l)
		produce(t, p, 2000*round+1000, 2000*round+2000)
		time.Sleep(time.Second)
		leave()
	}
	l.Expect(t, 10000)
}

func TestRealKafkaCodecs(t *testing.T) {
	s := kafkatest.Start(t)
	s.CreateTopic(t, topic, 2)
	l := sinktest.New()
	run(t, config([]string{s.Addr}), l)
	for i, codec := range []kgo.CompressionCodec{
		kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression(),
	} {
		produce(t, producer(t, []string{s.Addr}, kgo.ProducerBatchCompression(codec)), 200*i, 200*i+200)
	}
	l.Expect(t, 1000)
}

// TestRealKafkaRetentionAheadIsAGap: what retention has cut off the log before it
// was read is one gap of just these offsets, and everything else counts once.
func TestRealKafkaRetentionAheadIsAGap(t *testing.T) {
	s := kafkatest.Start(t)
	s.CreateTopic(t, topic, 1)
	addrs := []string{s.Addr}
	l := sinktest.New()
	_, stop := run(t, config(addrs), l)
	p := producer(t, addrs)
	produce(t, p, 0, 100)
	l.Expect(t, 100)
	stop()
	produce(t, p, 100, 200)
	cut := kmsg.NewPtrDeleteRecordsRequest()
	cut.TimeoutMillis = 10_000
	cut.Topics = []kmsg.DeleteRecordsRequestTopic{{
		Topic: topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 0, Offset: 150}},
	}}
	response, err := cut.RequestWith(soon(t), p)
	if err != nil {
		t.Fatal(err)
	}
	if code := response.Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Fatalf("the broker cut nothing: error %d", code)
	}
	run(t, config(addrs), l)
	produce(t, p, 200, 250)
	l.Expect(t, 200)
	if g := l.OnlyGap(t); g.From != "100" || g.To != "150" || g.Reason == "" {
		t.Errorf("the gap is %+v, want offsets 100 to 150", g)
	}
	l.With(func() {
		for v := range l.Counted {
			if n, _ := strconv.Atoi(v); n >= 100 && n < 150 {
				t.Errorf("value %s was counted, which the log no longer has", v)
			}
		}
	})
}

// BenchmarkAgainstReader reads the same topic of 200-byte messages on one core
// with kafkago.Reader and with this source, in turns, and reports both and their
// ratio. Neither decodes anything. The broker has the other core.
func BenchmarkAgainstReader(b *testing.B) {
	const count = 2_000_000
	s := kafkatest.Start(b)
	s.CreateTopic(b, topic, 1)
	p, err := kgo.NewClient(kgo.SeedBrokers(s.Addr), kgo.DefaultProduceTopic(topic),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MaxBufferedRecords(100_000))
	if err != nil {
		b.Fatal(err)
	}
	value := bytes.Repeat([]byte("v"), 200)
	for range count {
		p.Produce(b.Context(), &kgo.Record{Value: value}, nil)
	}
	if err := p.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	p.Close()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var reader, ours time.Duration
	for round := 0; b.Loop(); round++ {
		reader += timeReader(b, s.Addr, count)
		ours += timeSource(b, s.Addr, count, round)
	}
	perSecond := func(d time.Duration) float64 { return float64(count*b.N) / d.Seconds() }
	b.ReportMetric(perSecond(reader), "reader-records/s")
	b.ReportMetric(perSecond(ours), "source-records/s")
	b.ReportMetric(perSecond(ours)/perSecond(reader), "ratio")
}

func timeReader(b *testing.B, addr string, count int) time.Duration {
	r := kafkago.NewReader(kafkago.ReaderConfig{Brokers: []string{addr}, Topic: topic, MinBytes: 1, MaxBytes: 1 << 20})
	defer r.Close()
	var began time.Time
	for i := range count {
		if _, err := r.FetchMessage(b.Context()); err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			began = time.Now() // without the way to the first message, for both
		}
	}
	return time.Since(began)
}

func timeSource(b *testing.B, addr string, count, round int) time.Duration {
	cfg := config([]string{addr})
	cfg.Group = fmt.Sprint("bench-", round)
	counter := &counter{want: count, done: make(chan time.Duration, 1)}
	k, err := kafka.New(cfg, quiet)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- k.Run(ctx, counter) }()
	d := <-counter.done
	cancel()
	if err := <-stopped; err != nil {
		b.Error(err)
	}
	return d
}

// counter is a Sink that only counts.
type counter struct {
	want, seen int
	bytes      int
	at         string
	began      time.Time
	done       chan time.Duration
}

func (c *counter) Claim(_ context.Context, claim source.Claim) (source.Partition, error) {
	c.at = claim.First
	return c, nil
}
func (c *counter) Position() string                          { return c.at }
func (c *counter) Mark() string                              { return "" }
func (c *counter) Committed() string                         { return "" }
func (c *counter) Gap(_ context.Context, g sample.Gap) error { return fmt.Errorf("a gap: %+v", g) }
func (c *counter) Release(context.Context) error             { return nil }

func (c *counter) Fold(_ context.Context, b source.Batch) error {
	if b.Messages == nil {
		return nil
	}
	if c.began.IsZero() {
		c.began = time.Now()
	}
	for m := range b.Messages {
		c.seen++
		c.bytes += len(m.Value)
	}
	c.at = b.Next
	if c.seen == c.want {
		c.done <- time.Since(c.began)
	}
	return nil
}
