//go:build e2e

package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestMemory holds the resident size of a collector to what docs/CONFIGURATION.md says of
// collect.memory, 1.3 times as much and 64 MiB, while every partition holds what is large
// once it is decompressed, and holds the counts to what was produced.
func TestMemory(t *testing.T) {
	const set, mib = 64 << 20, 1 << 20
	w := newScenario(t, "other")
	url := w.postgres.URL("postgres")
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	type message struct {
		codec      string
		size, each int // bytes of a message, and how many a partition holds of it
		bad        bool
	}
	var before int64
	for _, story := range []struct {
		name       string
		partitions int
		messages   []message
	}{
		{"sixty", 24, []message{{codec: "zstd", size: 60 * mib, each: 1}}},
		{"plain", 64, []message{{codec: "none", size: 900_000, each: 8}}},
		{"codecs", 12, []message{
			{codec: "none", size: 900_000, each: 2}, {codec: "gzip", size: 30 * mib, each: 1}, {codec: "snappy", size: 12 * mib, each: 1},
			{codec: "lz4", size: 60 * mib, each: 1}, {codec: "zstd", size: 60 * mib, each: 1}, {codec: "zstd", size: 200, each: 2000},
		}},
		{"overlarge", 8, []message{
			{codec: "zstd", size: 200, each: 100}, {codec: "zstd", size: 70 * mib, each: 1, bad: true}, {codec: "lz4", size: 40 * mib, each: 1},
		}},
	} {
		t.Run(story.name, func(t *testing.T) {
			w.kafka.CreateTopic(t, story.name, story.partitions)
			want, gaps := before, 0
			for _, m := range story.messages {
				fill(t, w.kafka.Addr, story.name, story.partitions, m.size, m.each, codecs[m.codec])
				if m.bad {
					gaps += story.partitions * m.each
				} else {
					want += int64(story.partitions * m.each)
				}
			}
			c := newProcess(t, "collector", "collector run", fmt.Sprintf(`
kafka: {brokers: [%q], topics: [%q], group: %q}
collect: {memory: %d}
store: {url: %q}
admin: {listen: "%%listen%%"}
`, w.kafka.Addr, story.name, story.name, set, url))
			c.start(t)
			began := time.Now()
			within(t, 90*time.Second, "everything is counted, or a gap", func() error {
				c.note()
				got, err := w.totals()
				if err != nil {
					return err
				}
				var lost int
				if err := w.database.QueryRow(`SELECT count(*) FROM gaps WHERE name LIKE $1 AND reason LIKE '%kafka.max_batch%'`, story.name+"/%").Scan(&lost); err != nil {
					return err
				}
				if got.requests != want || lost != gaps {
					return fmt.Errorf("%d of %d requests and %d of %d gaps are stored", got.requests-before, want-before, lost, gaps)
				}
				return nil
			})
			took := time.Since(began)
			c.ready(t)
			c.stop(t)
			if got, err := w.totals(); err != nil || got.requests != want {
				t.Errorf("after the end %d requests are stored (%v), want %d", got.requests-before, err, want-before)
			}
			if most := int64(set*13/10 + 64*mib); c.peak > most {
				t.Errorf("the collector was %d MiB large, more than %d", c.peak/mib, most/mib)
			}
			t.Logf("%d requests in %s: at most %d MiB resident", want-before, took.Round(time.Millisecond), c.peak/mib)
			before = want
		})
	}
}

// fill produces messages of one sample each, of a size that they get from white space.
func fill(t *testing.T, broker, topic string, partitions, size, each int, codec kgo.CompressionCodec) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchMaxBytes(int32(max(1_000_000, size+1024))), kgo.ProducerBatchCompression(codec), kgo.MaxBufferedRecords(1+min(10_000, 100<<20/size)))
	must.Succeed(t, err)
	defer client.Close()
	var failed error // the client calls back one at a time
	padding := bytes.Repeat([]byte(" "), size)
	for p := range partitions {
		for i := range each {
			now := time.Now()
			value := append(fmt.Appendf(nil, `{"ts":%d,"table":"orders","pk":"key-%d-%d","op":"PutItem","wcu":1}`, now.UnixMilli(), p, i), '\n')
			value = append(value, padding[min(len(value), size):]...)
			client.Produce(t.Context(), &kgo.Record{Partition: int32(p), Value: value, Timestamp: now}, func(_ *kgo.Record, err error) {
				failed = errors.Join(failed, err)
			})
		}
	}
	must.Succeed(t, errors.Join(client.Flush(t.Context()), failed))
}
