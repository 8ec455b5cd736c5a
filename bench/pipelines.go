package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/kafka"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
	"github.com/keyheat/keyheat/sample/samplepb"
	"github.com/keyheat/keyheat/store"
)

const (
	// inTopic is how many records of 200 bytes each topic has, one a message.
	inTopic = 1_000_000
	// brokerVariable names the broker for the contenders.
	brokerVariable = "BENCH_KAFKA"
	// patience bounds the run of a contender.
	patience = 3 * time.Minute
)

// topics are the topics by the codec that producers compress with, and by how many
// partitions they have.
var topics = []struct {
	name       string
	codec      kgo.CompressionCodec
	partitions int32
}{
	{"plain", kgo.NoCompression(), 1},
	{"zstd", kgo.ZstdCompression(), 1},
	{"lz4", kgo.Lz4Compression(), 1},
	{"snappy", kgo.SnappyCompression(), 1},
	{"plain8", kgo.NoCompression(), 8},
	{"zstd8", kgo.ZstdCompression(), 8},
	{"protobuf", kgo.NoCompression(), 1},
}

// inBatch is how many records one message of the topic protobuf has.
const inBatch = 1000

func pipelines() group {
	ours := func(topic string) func(*meter) error {
		return func(m *meter) error { return collectTopic(m, topic) }
	}
	return group{
		name: "kafka", unit: "record", wall: true, prepare: startKafka,
		contenders: []contender{
			{name: "keyheat", run: ours("plain")},
			{name: "keyheat's source alone", run: readWithSource},
			{name: "kafka-go Reader", run: func(m *meter) error { return readTopic(m, "", func([]byte) error { return nil }) }},
			{name: "kafka-go ReadBatch", run: readBatches},
			{name: "franz-go", run: pollTopic},
			{name: "group Reader, encoding/json, map", run: func(m *meter) error {
				n := naive{}
				return readTopic(m, fmt.Sprint("naive-", time.Now().UnixNano()), n.add)
			}},
			{name: "keyheat, zstd", run: ours("zstd")},
			{name: "keyheat, lz4", run: ours("lz4")},
			{name: "keyheat, snappy", run: ours("snappy")},
			{name: "keyheat, protobuf", run: ours("protobuf")},
			{name: "keyheat, 8 partitions", run: ours("plain8")},
			{name: "keyheat, 8 partitions, 2 cores", run: ours("plain8"), cores: 2},
			{name: "keyheat, 8 partitions, zstd", run: ours("zstd8")},
		},
		figures: []figure{
			{name: "whole pipeline vs Reader that only reads", ours: "keyheat", theirs: "kafka-go Reader", goal: 2.5},
			{name: "source alone vs Reader", ours: "keyheat's source alone", theirs: "kafka-go Reader"},
			{name: "whole pipeline vs ReadBatch into a buffer", ours: "keyheat", theirs: "kafka-go ReadBatch", goal: 0.65},
			{name: "… vs franz-go that only reads", ours: "keyheat", theirs: "franz-go", goal: 0.9},
			{name: "… vs group Reader, encoding/json and a map", ours: "keyheat", theirs: "group Reader, encoding/json, map", goal: 12},
			{name: "zstd topic vs Reader on the plain topic", ours: "keyheat, zstd", theirs: "kafka-go Reader", goal: 1.2},
			{name: "lz4 topic vs Reader on the plain topic", ours: "keyheat, lz4", theirs: "kafka-go Reader"},
			{name: "snappy topic vs Reader on the plain topic", ours: "keyheat, snappy", theirs: "kafka-go Reader"},
			{name: "protobuf topic vs Reader on the plain topic", ours: "keyheat, protobuf", theirs: "kafka-go Reader"},
			{name: "two cores, eight partitions, vs one core", ours: "keyheat, 8 partitions, 2 cores", theirs: "keyheat, 8 partitions", goal: 1.8},
		},
	}
}

// startKafka starts a broker with filled topics.
func startKafka() (environment []string, end func(), err error) {
	addr, end, err := startBroker()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range topics {
		fmt.Fprintf(os.Stderr, "kafka: filling topic %s\n", t.name)
		if err := fill(addr, t.name, t.partitions, t.codec); err != nil {
			end()
			return nil, nil, fmt.Errorf("fill topic %s: %w", t.name, err)
		}
	}
	return []string{brokerVariable + "=" + addr}, end, nil
}

// startBroker starts a broker without topics.
func startBroker() (addr string, end func(), err error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return "", nil, err
	}
	script := func(verb string) ([]byte, error) {
		cmd := exec.Command("../scripts/kafka", verb, dir)
		cmd.Stderr = os.Stderr
		return cmd.Output()
	}
	end = func() {
		_, _ = script("stop")
		_ = os.RemoveAll(dir)
	}
	out, err := script("start")
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, fmt.Errorf("scripts/kafka: %w", err)
	}
	return lastLine(out), end, nil
}

func lastLine(out []byte) string {
	last := ""
	for s := bufio.NewScanner(strings.NewReader(string(out))); s.Scan(); {
		last = s.Text()
	}
	return last
}

func broker() string { return os.Getenv(brokerVariable) }

// message is the i-th record of 200 bytes on one of 100,000 keys, of which one request in
// ten meets the first, at a time in Unix milliseconds.
func message(ts int64, i int) *kgo.Record {
	key := i * 7919 % 100_000
	if i%10 == 0 {
		key = 0
	}
	text := fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"customer#%06d","op":"UpdateItem","wcu":%d,"caller":"`, ts, key, 1+i%3)
	return &kgo.Record{Value: []byte(text + strings.Repeat("x", 200-len(text)-2) + `"}`), Timestamp: time.UnixMilli(ts)}
}

func fill(addr, topic string, partitions int32, codec kgo.CompressionCodec) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(codec),
		kgo.MaxBufferedRecords(100_000), kgo.ProducerLinger(20*time.Millisecond), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer p.Close()
	if _, err := kadm.NewClient(p).CreateTopic(ctx, partitions, 1, nil, topic); err != nil {
		return err
	}
	var mu sync.Mutex
	var failed error
	sent := func(_ *kgo.Record, err error) {
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, err)
	}
	// 100,000 requests a second, of an hour ago: a broker refuses messages from the future.
	start := time.Now().Add(-time.Hour).UnixMilli()
	b := new(batch)
	for i := range inTopic {
		r := message(start+int64(i)/100, i)
		if topic == "protobuf" {
			if r = b.add(r); r == nil {
				continue
			}
		}
		r.Partition = int32(i) % partitions
		p.Produce(ctx, r, sent)
	}
	if err := p.Flush(ctx); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	return failed
}

// batch gathers the samples of one message of the topic protobuf.
type batch struct {
	records collected
	encoder *samplepb.Encoder
}

// add returns the message of a full batch, which has the time of its last sample.
func (b *batch) add(r *kgo.Record) *kgo.Record {
	keyheatjson.NewDecoder().Decode(r.Value, 0, &b.records)
	if len(b.records) < inBatch {
		return nil
	}
	if b.encoder == nil {
		b.encoder = samplepb.NewEncoder()
	}
	message := &kgo.Record{Value: b.encoder.Append(nil, b.records), Timestamp: r.Timestamp}
	b.records = b.records[:0]
	return message
}

// naive is what one would write first: encoding/json, and a map.
type naive map[string]float64

func (n naive) add(message []byte) error {
	var s struct {
		TS    int64   `json:"ts"`
		Table string  `json:"table"`
		PK    string  `json:"pk"`
		Op    string  `json:"op"`
		WCU   float64 `json:"wcu"`
	}
	if err := json.Unmarshal(message, &s); err != nil {
		return err
	}
	n[s.Table+"|"+s.PK+"|"+strconv.FormatInt(s.TS/1000, 10)] += s.WCU
	return nil
}

// readTopic reads with a Reader, of a group unless it is empty. As of all that read a
// topic, the time is from the first message to the last: the way to the first one is
// not what is compared.
func readTopic(m *meter, group string, use func([]byte) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r := kafkago.NewReader(kafkago.ReaderConfig{
		Brokers: []string{broker()}, Topic: "plain", GroupID: group, CommitInterval: time.Second,
		MinBytes: 1, MaxBytes: 1 << 20, StartOffset: kafkago.FirstOffset,
	})
	defer r.Close()
	read := r.FetchMessage
	if group != "" {
		read = r.ReadMessage
	}
	for i := range inTopic {
		got, err := read(ctx)
		if err == nil {
			err = use(got.Value)
		}
		if err != nil {
			return err
		}
		if i == 0 {
			m.start()
		}
	}
	m.stop(inTopic)
	return nil
}

// readBatches copies each value into one buffer.
func readBatches(m *meter) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := kafkago.DialLeader(ctx, "tcp", broker(), "plain", 0)
	if err != nil {
		return err
	}
	defer c.Close()
	buf := make([]byte, 64<<10)
	read := 0
	for read < inTopic {
		batch := c.ReadBatch(1, 1<<20)
		for {
			if _, err = batch.Read(buf); err != nil {
				break
			}
			if read == 0 {
				m.start()
			}
			read++
		}
		if err := batch.Close(); err != nil {
			return err
		}
		if !errors.Is(err, io.EOF) && err != nil {
			return err
		}
	}
	m.stop(inTopic)
	return nil
}

func pollTopic(m *meter) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := kgo.NewClient(kgo.SeedBrokers(broker()), kgo.ConsumeTopics("plain"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxPartitionBytes(1<<20))
	if err != nil {
		return err
	}
	defer c.Close()
	for read := 0; read < inTopic; {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		if read == 0 && fetches.NumRecords() > 0 {
			m.start()
		}
		fetches.EachRecord(func(*kgo.Record) { read++ })
	}
	m.stop(inTopic)
	return nil
}

// nowhere is a store that keeps nothing, so that the collector alone is measured.
type nowhere struct{ bytes int }

func (*nowhere) RestartWriter(context.Context, store.Writer) error              { return nil }
func (*nowhere) StartWriter(context.Context, store.Writer) error                { return nil }
func (*nowhere) Now(context.Context) (time.Time, error)                         { return time.Now(), nil }
func (*nowhere) ReportWriter(context.Context, string, store.WriterStatus) error { return nil }
func (*nowhere) StopWriter(context.Context, string) error                       { return nil }
func (*nowhere) OldestTargets(context.Context, int) ([]sample.Target, error)    { return nil, nil }
func (*nowhere) StreamedTables(context.Context) ([]sample.Target, error)        { return nil, nil }
func (*nowhere) IsCommitted(context.Context, string, int64) (bool, error)       { return true, nil }
func (*nowhere) Watermarks(context.Context) ([]store.Watermark, error)          { return nil, nil }
func (n *nowhere) Commit(_ context.Context, c store.Commit) error               { n.bytes += len(c.Body); return nil }
func (*nowhere) Claim(_ context.Context, writer string, c store.Claim) (store.Position, error) {
	return store.Position{PartitionID: c.PartitionID, Next: c.First, Epoch: 1, Writer: writer}, nil
}

// counter is a Sink that looks at each message's value and keeps nothing.
type counter struct {
	at    string
	bytes int
}

func (c *counter) Claim(_ context.Context, claim source.Claim) (source.Partition, error) {
	c.at = claim.First
	return c, nil
}
func (c *counter) Position() string                          { return c.at }
func (c *counter) Mark() string                              { return "" }
func (c *counter) CommittedPosition() string                 { return "" }
func (c *counter) Gap(_ context.Context, g sample.Gap) error { return fmt.Errorf("a gap: %+v", g) }
func (c *counter) Release(context.Context) error             { return nil }

func (c *counter) Fold(_ context.Context, b source.Batch) error {
	if b.Messages != nil {
		for m := range b.Messages {
			c.bytes += len(m.Value)
		}
	}
	c.at = b.Next
	return nil
}

// readWithSource reads with our source, and does nothing with what it reads.
func readWithSource(m *meter) error {
	c := new(counter)
	if err := readAll(m, "plain", c); err != nil {
		return err
	}
	m.stop(inTopic)
	if c.bytes != inTopic*200 {
		return fmt.Errorf("it read %d bytes", c.bytes)
	}
	return nil
}

// readAll reads a topic into a sink up to its last record.
func readAll(m *meter, topic string, sink source.Sink) error {
	k := kafka.New(kafka.Config{
		Brokers: []string{broker()}, Topics: []string{topic}, Group: fmt.Sprint("bench-", time.Now().UnixNano()),
	}, quiet)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w := &watch{Sink: sink, meter: m, finish: cancel, messages: inTopic}
	if topic == "protobuf" {
		w.messages /= inBatch
	}
	if err := k.Run(ctx, w); err != nil {
		return err
	}
	if w.read != w.messages {
		return fmt.Errorf("it read %d messages of %d", w.read, w.messages)
	}
	return nil
}

var quiet = slog.New(slog.DiscardHandler)

// collectTopic takes a topic through the collector's whole pipeline, up to the last
// commit.
func collectTopic(m *meter, topic string) error {
	kept := new(nowhere)
	config := collect.Config{Source: "bench"}
	if topic == "protobuf" {
		config.Decoder = func(string) collect.Decoder { return samplepb.NewDecoder() }
	}
	c := collect.New(config, kept, seed, quiet)
	committing, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(committing) }()
	err := readAll(m, topic, c)
	stop()
	err = errors.Join(err, <-done)
	m.stop(inTopic) // with the last commit
	if err == nil && kept.bytes == 0 {
		err = errors.New("it stored nothing")
	}
	return err
}

// watch counts what a Sink is given, from the first batch on, and ends the source after
// the last.
type watch struct {
	source.Sink
	meter    *meter
	finish   func()
	messages int64 // of the topic
	mu       sync.Mutex
	read     int64
}

func (w *watch) Claim(ctx context.Context, c source.Claim) (source.Partition, error) {
	p, err := w.Sink.Claim(ctx, c)
	return &watched{Partition: p, watch: w}, err
}

// count returns how many messages were folded.
func (w *watch) count() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.read
}

type watched struct {
	source.Partition
	watch *watch
	next  int64
}

func (p *watched) Fold(ctx context.Context, b source.Batch) error {
	w := p.watch
	w.mu.Lock()
	if w.read == 0 && b.Messages != nil {
		w.meter.resume()
	}
	w.mu.Unlock()
	if err := p.Partition.Fold(ctx, b); err != nil {
		return err
	}
	next, err := strconv.ParseInt(b.Next, 10, 64)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read += next - p.next
	p.next = next
	if w.read == w.messages {
		w.finish()
	}
	return nil
}
