//go:build e2e

package collect_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/kafka"
	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
)

const topic = "samples"

// patience bounds each run, so that one that hangs has a name.
const patience = 2 * time.Minute

// BenchmarkAgainstReader takes one topic of 200-byte records, one a message,
// from a real Kafka on one core: with kafkago.Reader, which only reads; with a
// group Reader, encoding/json and a map; and with the collector's whole
// pipeline, up to the last commit into a store that keeps nothing. The broker
// has the other cores.
func BenchmarkAgainstReader(b *testing.B) {
	const count = 1_000_000
	s := kafkatest.Start(b)
	s.CreateTopic(b, topic, 1)
	fill(b, s.Addr, count)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var reader, group, ours time.Duration
	for round := 0; b.Loop(); round++ {
		reader += timeReader(b, kafkago.ReaderConfig{Brokers: []string{s.Addr}, Topic: topic}, count, func([]byte) error { return nil })
		n := naive{}
		group += timeReader(b, kafkago.ReaderConfig{Brokers: []string{s.Addr}, Topic: topic,
			GroupID: fmt.Sprint("naive-", round), CommitInterval: time.Second}, count, n.add)
		ours += timePipeline(b, s.Addr, count, round)
	}
	perSecond := func(d time.Duration) float64 { return float64(count*b.N) / d.Seconds() }
	b.ReportMetric(perSecond(reader), "reader-records/s")
	b.ReportMetric(perSecond(group), "naive-records/s")
	b.ReportMetric(perSecond(ours), "records/s")
	b.ReportMetric(perSecond(ours)/perSecond(reader), "ratio-to-reader")
	b.ReportMetric(perSecond(ours)/perSecond(group), "ratio-to-naive")
}

func fill(b *testing.B, addr string, count int) {
	b.Helper()
	p, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(topic),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MaxBufferedRecords(100_000))
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for _, m := range benchMessages(count) {
		p.Produce(b.Context(), &kgo.Record{Value: m.Value, Timestamp: time.UnixMilli(m.Time)}, func(_ *kgo.Record, err error) {
			if err != nil {
				b.Errorf("produce: %v", err)
			}
		})
	}
	if err := p.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// timeReader is the time from the first message to the last, for all three: the
// way to the first message is not what is compared.
func timeReader(b *testing.B, cfg kafkago.ReaderConfig, count int, use func([]byte) error) time.Duration {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	cfg.MinBytes, cfg.MaxBytes, cfg.StartOffset = 1, 1<<20, kafkago.FirstOffset
	r := kafkago.NewReader(cfg)
	defer r.Close()
	read := r.FetchMessage
	if cfg.GroupID != "" {
		read = r.ReadMessage
	}
	var began time.Time
	for i := range count {
		m, err := read(ctx)
		if err == nil {
			err = use(m.Value)
		}
		if err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			began = time.Now()
		}
	}
	return time.Since(began)
}

func timePipeline(b *testing.B, addr string, count, round int) time.Duration {
	b.Helper()
	k, err := kafka.New(kafka.Config{
		Brokers: []string{addr}, Topics: []string{topic}, Group: fmt.Sprint("bench-", round),
	}, quiet)
	if err != nil {
		b.Fatal(err)
	}
	c := newCollector(b, collect.Config{Source: "bench"}, new(null))
	stop := running(b, c)
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	w := &stopwatch{Sink: c, last: strconv.Itoa(count), finish: cancel}
	if err := k.Run(ctx, w); err != nil {
		b.Fatal(err)
	}
	if err := stop(); err != nil {
		b.Fatal(err)
	}
	if w.ended.IsZero() || w.began.IsZero() {
		b.Fatal("the pipeline did not reach the end of the topic")
	}
	return w.ended.Sub(w.began)
}

// stopwatch times a Sink from its first batch until the release after the last,
// which commits it.
type stopwatch struct {
	source.Sink
	last         string
	finish       context.CancelFunc
	began, ended time.Time
}

func (w *stopwatch) Claim(ctx context.Context, c source.Claim) (source.Partition, error) {
	p, err := w.Sink.Claim(ctx, c)
	return &timed{Partition: p, watch: w}, err
}

type timed struct {
	source.Partition
	watch *stopwatch
}

func (p *timed) Fold(ctx context.Context, b source.Batch) error {
	if p.watch.began.IsZero() && b.Messages != nil {
		p.watch.began = time.Now()
	}
	if b.Next == p.watch.last {
		p.watch.finish()
	}
	return p.Partition.Fold(ctx, b)
}

func (p *timed) Release(ctx context.Context) error {
	err := p.Partition.Release(ctx)
	p.watch.ended = time.Now()
	return err
}
