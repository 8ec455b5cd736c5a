//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/keytrace"
	"github.com/keyheat/keyheat/sample"
)

const (
	partitions = 8
	traceFile  = "../internal/testsupport/keytrace/testdata/orm-busy.trace.zst"
	seed       = 20251121
	// linesPerMessage is how many samples a producer folds into one message.
	linesPerMessage = 50
)

// layout is how the trace is written to a topic.
type layout struct {
	topic     string
	perSecond int  // accesses in a second of event time
	limit     int  // 0 = all 5,000,000
	spread    bool // messages go to random partitions, not by partition key
	hostile   bool // 1% of the messages are broken in some way
}

// pour produces the trace in the background, in real time from now on and again when it is
// over, until it is told to end or the test ends; end waits until all is acknowledged.
func (l layout) pour(t *testing.T, broker string) (end func()) {
	t.Helper()
	until, done := make(chan struct{}), make(chan struct{})
	start := time.Now().Truncate(time.Second)
	go func() {
		defer close(done)
		l.produceUntil(t, broker, start, until)
	}()
	end = sync.OnceFunc(func() { close(until); <-done })
	t.Cleanup(end)
	return end
}

// produce produces the trace as NDJSON. Event time begins at start, and a message's
// own time is that of its first sample.
func (l layout) produce(t *testing.T, broker string, start time.Time) {
	t.Helper()
	l.produceUntil(t, broker, start, nil)
}

// produceUntil is produce, but with a channel event time passes as fast as real time, and
// the trace comes again, until the channel is closed. What was begun is acknowledged also
// where the channel is closed by a clean-up, when the test's context is over.
func (l layout) produceUntil(t *testing.T, broker string, start time.Time, until <-chan struct{}) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(l.topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(20*time.Millisecond),
		kgo.MaxBufferedRecords(20_000), kgo.ProducerBatchCompression(kgo.Lz4Compression()))
	if err != nil {
		t.Error(err)
		return
	}
	defer client.Close()
	ctx := context.WithoutCancel(t.Context())
	p := producer{layout: l, until: until, client: client, random: rand.New(rand.NewPCG(seed, 1))}
	for end := start; ; start = end.Add(time.Second) {
		if end, err = p.trace(ctx, start); err != nil {
			t.Error(err)
			return
		}
		if until == nil || p.ended() {
			break
		}
	}
	p.flush(ctx)
	ctx, cancel := context.WithTimeout(ctx, await.Limit)
	defer cancel()
	if err := client.Flush(ctx); err != nil {
		t.Error(err)
	}
}

// producer gathers lines into messages, one being filled for each partition.
type producer struct {
	layout
	until   <-chan struct{}
	client  *kgo.Client
	random  *rand.Rand
	filling [partitions]filling
	next    int
}

type filling struct {
	lines int
	first int64 // Unix milliseconds
	body  []byte
}

// trace produces the trace from a time on, and returns the time of the last access.
func (p *producer) trace(ctx context.Context, start time.Time) (end time.Time, err error) {
	file, err := os.Open(traceFile)
	if err != nil {
		return start, err
	}
	defer file.Close()
	records, err := keytrace.Read(file, keytrace.Config{Start: start, PerSecond: p.perSecond, Seed: seed, Limit: p.limit})
	if err != nil {
		return start, err
	}
	for r, err := range records {
		if err != nil {
			return start, err
		}
		p.add(ctx, &r)
		if end = time.UnixMilli(r.Time); p.ended() {
			break
		}
	}
	return end, nil
}

// ended reports whether no more is wanted.
func (p *producer) ended() bool {
	select {
	case <-p.until:
		return true
	default:
		return false
	}
}

func (p *producer) add(ctx context.Context, r *sample.Record) {
	partition := p.next
	if !p.spread {
		h := fnv.New32a()
		h.Write([]byte(r.PK.Text))
		partition = int(h.Sum32() % partitions)
	}
	f := &p.filling[partition]
	if f.lines == 0 {
		f.first = r.Time
	}
	f.body = append(r.AppendJSON(f.body), '\n')
	f.lines++
	if f.lines < linesPerMessage {
		return
	}
	p.send(ctx, partition)
	p.next = p.random.IntN(partitions)
}

func (p *producer) send(ctx context.Context, partition int) {
	f := &p.filling[partition]
	if f.lines == 0 {
		return
	}
	if p.until != nil {
		time.Sleep(time.Until(time.UnixMilli(f.first)))
	}
	p.produce(ctx, partition, f.first, f.body)
	if p.hostile && p.random.IntN(100) == 0 {
		p.produce(ctx, partition, f.first, []byte(hostile[p.random.IntN(len(hostile))](f.first)))
	}
	*f = filling{}
}

// produce sends one message; it blocks while the client's buffer is full.
// What does not arrive is not counted by the oracle either: it reads the topic.
func (p *producer) produce(ctx context.Context, partition int, at int64, body []byte) {
	p.client.Produce(ctx, &kgo.Record{Partition: int32(partition), Timestamp: time.UnixMilli(at), Value: body}, nil)
}

func (p *producer) flush(ctx context.Context) {
	for i := range p.filling {
		p.send(ctx, i)
	}
}

// hostile are messages that are not, or not wholly, samples: each makes one bad
// sample and leaves the good ones beside it alone.
var hostile = []func(at int64) string{
	func(int64) string { return `{"ts":` },
	func(int64) string { return "\x00\x01\x02 not json at all" },
	func(at int64) string { return fmt.Sprintf(`{"ts":%d,"pk":"no table","op":"UpdateItem","wcu":1}`, at) },
	func(at int64) string { return fmt.Sprintf(`{"ts":%d,"table":"orm","op":"UpdateItem","wcu":1}`, at) },
	func(at int64) string {
		return fmt.Sprintf(`{"ts":%d,"table":"orm","pk":"k","op":"UpdateItem","wcu":-5}`, at)
	},
	func(at int64) string {
		return fmt.Sprintf(`{"ts":%d,"table":"orm","pk":"k","op":"UpdateItem","wcu":1,"rate":7}`, at)
	},
	func(at int64) string {
		return fmt.Sprintf(`{"ts":%d,"table":"orm","pk":%q,"op":"UpdateItem","wcu":1}`, at, strings.Repeat("k", 3000))
	},
	func(at int64) string {
		return fmt.Sprintf(`{"ts":%d,"table":"orm","pk":"k","op":"UpdateItem","wcu":1e999}`, at)
	},
	func(int64) string { return strings.Repeat("[", 5000) },
	func(at int64) string {
		return fmt.Sprintf(`{"ts":%d,"table":"orm","pk":"k","op":"UpdateItem","wcu":1,"n":0}`, at)
	},
	// A bad line between good ones: two samples count.
	func(at int64) string {
		good := fmt.Sprintf(`{"ts":%d,"table":"orm","pk":"beside","op":"UpdateItem","wcu":1}`, at)
		return good + "\n{\"ts\": broken}\n" + good
	},
}
