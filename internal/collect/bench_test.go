package collect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/testsupport/cputime"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// benchMessages are messages of one 200-byte record each, at 100,000 requests a second. One
// request in ten is on the first of 100,000 keys. They are an hour old: a broker refuses
// messages from the future.
func benchMessages(n int) []source.Message {
	start := time.Now().Add(-time.Hour)
	all := make([]source.Message, n)
	for i := range all {
		key := (i * 7919) % 100_000
		if i%10 == 0 {
			key = 0
		}
		all[i] = benchMessage(i, key, start)
	}
	return all
}

// benchMessage is a record of 200 bytes, one of 100,000 a second from a start on.
func benchMessage(i, key int, start time.Time) source.Message {
	ts := start.UnixMilli() + int64(i)/100
	line := fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"customer#%06d","op":"UpdateItem","wcu":%d,"caller":"`, ts, key, 1+i%3)
	return source.Message{Value: []byte(line + strings.Repeat("x", 200-len(line)-2) + `"}`), Time: ts}
}

// null takes commits and keeps nothing, so that a benchmark measures the
// collector alone.
type null struct {
	bytes, shards int
	streamed      []sample.Target
	last          []byte        // the body of the last commit
	asked         chan struct{} // has an entry for each StreamedTables; nil for none
}

func (*null) StartWriter(context.Context, store.Writer) error                { return nil }
func (*null) RestartWriter(context.Context, store.Writer) error              { return nil }
func (*null) Now(context.Context) (time.Time, error)                         { return time.Now(), nil }
func (*null) ReportWriter(context.Context, string, store.WriterStatus) error { return nil }
func (*null) StopWriter(context.Context, string) error                       { return nil }
func (*null) Watermarks(context.Context) ([]store.Watermark, error)          { return nil, nil }

func (n *null) StreamedTables(context.Context) ([]sample.Target, error) {
	select {
	case n.asked <- struct{}{}:
	default:
	}
	return n.streamed, nil
}
func (*null) OldestTargets(context.Context, int) ([]sample.Target, error) { return nil, nil }
func (*null) IsCommitted(context.Context, string, int64) (bool, error)    { return true, nil }
func (n *null) Commit(_ context.Context, c store.Commit) error {
	n.bytes, n.shards, n.last = n.bytes+len(c.Body), n.shards+len(c.Keys), c.Body
	return nil
}
func (*null) Claim(_ context.Context, writer string, c store.Claim) (store.Position, error) {
	return store.Position{PartitionID: c.PartitionID, Next: c.First, Epoch: 1, Writer: writer}, nil
}

// naive is the obvious solution: encoding/json, and a map.
type naive map[string]float64

type naiveSample struct {
	TS    int64   `json:"ts"`
	Table string  `json:"table"`
	PK    string  `json:"pk"`
	Op    string  `json:"op"`
	WCU   float64 `json:"wcu"`
}

func (n naive) add(message []byte) error {
	var s naiveSample
	if err := json.Unmarshal(message, &s); err != nil {
		return err
	}
	n[s.Table+"|"+s.PK+"|"+strconv.FormatInt(s.TS/1000, 10)] += s.WCU
	return nil
}

// BenchmarkPipeline takes messages through decode, sketch, seal, marshal and a
// commit that keeps nothing, on one core, and in turn through encoding/json and a map.
func BenchmarkPipeline(b *testing.B) {
	const count, size = 200_000, 4_000
	messages := benchMessages(count)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var ours, theirs cputime.Rounds
	for b.Loop() {
		ours.Take(func() { runCollector(b, collect.Config{Source: "bench"}, messages, size, false) })
		theirs.Take(func() { runNaive(b, messages) })
	}
	cputime.Report(b, "naive", count, ours, theirs)
}

// BenchmarkPositions takes records of a table's stream with the positions of their keys, and in
// turn without. The SDK's part of their cost is not in it.
func BenchmarkPositions(b *testing.B) {
	const count, size = 20_000, 1_000
	messages := streamMessages(count)
	config := collect.Config{Source: "bench", Decoder: func(string) collect.Decoder { return change.NewDecoder(nil) }}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var without, with cputime.Rounds
	for b.Loop() {
		without.Take(func() { runCollector(b, config, messages, size, false) })
		with.Take(func() { runCollector(b, config, messages, size, true) })
	}
	cputime.Report(b, "with-positions", count, without, with)
}

// BenchmarkCells takes records of a table whose stream is read, so that unlisted load is placed,
// and in turn without: keys as they come in a busy table, and the worst case, where most of the
// 60,000 keys of each second are unlisted.
func BenchmarkCells(b *testing.B) {
	const count = 400_000
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, 1_000_000)
	skewed := make([]source.Message, count)
	for i := range skewed {
		skewed[i] = benchMessage(i, int(zipf.Uint64()), time.Now().Add(-time.Hour))
	}
	b.Run("skewed", func(b *testing.B) { benchmarkCells(b, skewed) })
	b.Run("even", func(b *testing.B) { benchmarkCells(b, benchMessages(count)) })
}

func benchmarkCells(b *testing.B, messages []source.Message) {
	const size = 4_000
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var without, with cputime.Rounds
	placed := &null{}
	for b.Loop() {
		without.Take(func() { runCollector(b, collect.Config{Source: "bench"}, messages, size, false) })
		with.Take(func() {
			placed = runCollector(b, collect.Config{Source: "bench"}, messages, size, false, sample.Target{Table: "orders"})
		})
	}
	var d sketch.Delta
	if err := d.UnmarshalBinary(placed.last); err != nil || !slices.ContainsFunc(d.Windows, func(w sketch.Window) bool { return len(w.Cells) > 0 }) {
		b.Fatalf("no cells: %v", err)
	}
	cputime.Report(b, "with-cells", len(messages), without, with)
}

// streamMessages are changes of items of 500 bytes with both images, 100 a second.
func streamMessages(n int) []source.Message {
	const stream = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders/stream/2026-01-01T00:00:00.000"
	start := time.Now().Add(-time.Hour)
	note := strings.Repeat("text ", 90)
	all := make([]source.Message, n)
	for i := range all {
		key := fmt.Sprintf(`"customer":{"S":"customer#%06d"}`, (i*7919)%100_000)
		item := fmt.Sprintf(`{%s,"note":{"S":"%s"}}`, key, note)
		at := start.Add(time.Duration(i) * 10 * time.Millisecond)
		all[i] = source.Message{Time: at.UnixMilli(), Value: fmt.Appendf(nil,
			`{"eventID":"%d","eventName":"MODIFY","awsRegion":"eu-west-1","eventSourceARN":"%s","dynamodb":{"ApproximateCreationDateTime":%d,"SequenceNumber":"%d","Keys":{%s},"OldImage":%s,"NewImage":%s}}`,
			i, stream, at.Unix(), i, key, item, item)}
	}
	return all
}

func runCollector(b *testing.B, config collect.Config, messages []source.Message, size int, tableShard bool, streamed ...sample.Target) *null {
	b.Helper()
	kept := &null{streamed: streamed, asked: make(chan struct{}, 2)}
	c := newCollector(b, config, kept)
	stop := running(b, c)
	<-kept.asked // the tables with streams count from the next second on
	p, err := c.Claim(b.Context(), source.Claim{Partition: "p", First: "0", TableShard: tableShard})
	if err != nil {
		b.Fatal(err)
	}
	for chunk := range slices.Chunk(messages, size) {
		batch := source.Batch{Messages: slices.Values(chunk), Next: "1", Time: chunk[len(chunk)-1].Time}
		if err := p.Fold(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := p.Release(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := stop(); err != nil {
		b.Fatal(err)
	}
	if tableShard != (kept.shards > 0) || kept.bytes == 0 {
		b.Fatalf("%d bytes are kept, and %d shards", kept.bytes, kept.shards)
	}
	return kept
}

func runNaive(b *testing.B, messages []source.Message) {
	b.Helper()
	n := naive{}
	for _, m := range messages {
		if err := n.add(m.Value); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := json.Marshal(n); err != nil { // as the delta to store
		b.Fatal(err)
	}
}

// BenchmarkFold measures the cost of a record in this package. The baseline is an empty
// message: it has no record to decode or to add, and counts as bad.
func BenchmarkFold(b *testing.B) {
	c := newCollector(b, collect.Config{Source: "bench", CommitInterval: time.Hour}, new(null))
	stop := running(b, c)
	p, err := c.Claim(b.Context(), source.Claim{Partition: "p", First: "0"})
	if err != nil {
		b.Fatal(err)
	}
	message := source.Message{Value: bytes.Repeat([]byte(" "), 1), Time: noon.UnixMilli()}
	one := slices.Values([]source.Message{message})
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Fold(b.Context(), source.Batch{Messages: one, Next: "1", Time: message.Time}); err != nil {
			b.Fatal(err)
		}
	}
	if err := stop(); err != nil {
		b.Fatal(err)
	}
}
