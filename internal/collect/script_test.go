package collect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

const seed = 42

// small keeps thousands of collectors cheap.
var small = sketch.Config{Sets: 8, CounterBytes: 4096, Seed: seed}

// noon is the event time at which scripted logs begin.
var noon = time.Date(2020, 6, 1, 12, 0, 0, 0, time.UTC)

// config is a collector that commits often, and early.
func config() collect.Config {
	return collect.Config{
		Source: "test", Sketch: small, Shards: 2, CommitInterval: 20 * time.Millisecond, EarlyCommit: 5 * time.Millisecond,
	}
}

func newCollector(t testing.TB, c collect.Config, st collect.Store) *collect.Collector {
	t.Helper()
	return collect.New(c, st, seed, quiet)
}

// running runs a collector. It returns a function that ends the collector and waits for it.
func running(t testing.TB, c *collect.Collector) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	return func() error { cancel(); return <-done }
}

// second is where samples are counted: a second of a table.
type second struct {
	table string
	at    int64
}

// totals are counted samples, or the expected ones.
type totals struct {
	requests, writes map[second]int64
	bad              map[string]int64
	gaps             map[string]int
	distinct         map[second]*sketch.Cardinality // by minute
}

func newTotals() *totals {
	return &totals{requests: map[second]int64{}, writes: map[second]int64{}, bad: map[string]int64{},
		gaps: map[string]int{}, distinct: map[second]*sketch.Cardinality{}}
}

// script is the log of one partition, with messages at positions from 0. A
// position may be a gap.
type script struct {
	name     string
	messages []source.Message
	gaps     map[int]bool
}

// scripts writes logs and their totals. It counts while it writes, and so shares no code
// with the collector, except for distinct keys, which come from an undisturbed shard.
func scripts(rng *rand.Rand, partitions, messages int) ([]*script, *totals) {
	l := newTotals()
	undisturbed := sketch.NewShard(small)
	var all []*script
	for i := range partitions {
		s := &script{name: fmt.Sprint("p", i), gaps: map[int]bool{}}
		for j := range messages {
			at := noon.UnixMilli() + int64(j)*37
			if rng.IntN(50) == 0 {
				s.gaps[j] = true
				l.gaps[fmt.Sprintf("%s:%d-%d", s.name, j, j+1)]++
				s.messages = append(s.messages, source.Message{})
				continue
			}
			s.messages = append(s.messages, l.message(rng, at, undisturbed))
		}
		all = append(all, s)
	}
	d := sketch.NewDelta(small)
	undisturbed.Seal(d)
	l.merge(d.Cardinality)
	return all, l
}

// message writes one message of one to three samples, some of them bad.
func (l *totals) message(rng *rand.Rand, at int64, undisturbed *sketch.Shard) source.Message {
	if rng.IntN(40) == 0 {
		l.bad["unreadable"]++
		return source.Message{Value: []byte(`{"pk":"tr`), Time: at, Fault: "too large"}
	}
	var b bytes.Buffer
	for range 1 + rng.IntN(3) {
		table := fmt.Sprint("orders", rng.IntN(3))
		key := rng.IntN(40)
		ts := at + rng.Int64N(3000) - 1500
		wcu := 1 + rng.Int64N(9)
		if rng.IntN(50) == 0 {
			wcu += 1000 // over the limit: a reason to commit early
		}
		switch rng.IntN(12) {
		case 0:
			fmt.Fprintf(&b, `{"ts":%d,"table":"%s","pk":"k","wcu":1}`, at-600_001, table)
			l.bad["too_old"]++
		case 1:
			fmt.Fprintf(&b, `{"ts":%d,"table":"%s","pk":"k","wcu":1}`, at+60_001, table)
			l.bad["too_far_ahead"]++
		case 2:
			b.WriteString(`{"ts":1,,,`)
			l.bad["syntax"]++
		case 3:
			fmt.Fprintf(&b, `{"ts":%d,"table":"%s","pk":"k","wcu":-1}`, ts, table)
			l.bad["bad_units"]++
		default:
			fmt.Fprintf(&b, `{"ts":%d,"table":"%s","pk":"key%d","op":"UpdateItem","wcu":%d}`, ts, table, key, wcu)
			s := second{table, ts / 1000}
			l.requests[s]++
			l.writes[s] += wcu * 1000
			r := sample.Record{Time: ts, Table: table, PK: sample.KeyString(fmt.Sprint("key", key)), WCU: sample.Milli(wcu * 1000), N: 1, Rate: 1}
			if err := undisturbed.Add(&r); err != nil {
				panic(err)
			}
		}
		b.WriteByte('\n')
	}
	return source.Message{Value: b.Bytes(), Time: at}
}

// merge takes registers in.
func (l *totals) merge(all []sketch.Registers) {
	for _, r := range all {
		s := second{r.Table, r.Minute}
		if l.distinct[s] == nil {
			l.distinct[s] = new(sketch.Cardinality)
		}
		l.distinct[s].Merge(r)
	}
}

// readable is the part of a store that a test reads.
type readable interface {
	Read(ctx context.Context, after map[string]int64, l store.ReadLimit) (store.Snapshot, error)
	BadSamples(ctx context.Context, q store.BadQuery) ([]store.BadSample, error)
	Gaps(ctx context.Context, q store.GapQuery) ([]store.Gap, error)
	Positions(ctx context.Context, source string) ([]store.Position, error)
}

// counted reads a store's totals.
func counted(t testing.TB, st readable) *totals {
	t.Helper()
	l := newTotals()
	snap, err := st.Read(t.Context(), nil, store.ReadLimit{Deltas: 1 << 30, Bytes: 1 << 30})
	if err != nil || snap.Behind {
		t.Fatalf("read deltas: %v, behind: %v", err, snap.Behind)
	}
	for _, row := range snap.Deltas {
		var d sketch.Delta
		if err := d.UnmarshalBinary(row.Body); err != nil {
			t.Fatalf("delta %s/%d: %v", row.Writer, row.Seq, err)
		}
		for _, w := range d.Windows {
			s := second{w.Table, w.Second}
			l.requests[s] += w.Total.Requests
			l.writes[s] += int64(w.Total.Write)
		}
		l.merge(d.Cardinality)
	}
	bad, err := st.BadSamples(t.Context(), store.BadQuery{Limit: 1 << 20})
	must(t, err)
	for _, b := range bad {
		l.bad[b.Reason] += b.Count
	}
	gaps, err := st.Gaps(t.Context(), store.GapQuery{Limit: 1 << 20})
	must(t, err)
	for _, g := range gaps {
		l.gaps[fmt.Sprintf("%s:%s-%s", g.Partition, g.From, g.To)]++
	}
	return l
}

// mustEqual fails where two totals differ.
func mustEqual(t testing.TB, got, want *totals) {
	t.Helper()
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"requests", got.requests, want.requests}, {"write units", got.writes, want.writes},
		{"bad samples", got.bad, want.bad}, {"gaps", got.gaps, want.gaps},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s:\n got %v\nwant %v", c.what, c.got, c.want)
		}
	}
	if !reflect.DeepEqual(got.distinct, want.distinct) {
		t.Error("the HyperLogLogs differ from those of an undisturbed shard")
	}
}

// mustEnd fails unless every log was counted to its end.
func mustEnd(t testing.TB, st readable, logs []*script) {
	t.Helper()
	positions, err := st.Positions(t.Context(), "test")
	must(t, err)
	at := map[string]string{}
	for _, p := range positions {
		at[p.Name] = p.Next
	}
	for _, s := range logs {
		if want := strconv.Itoa(len(s.messages)); at[s.name] != want {
			t.Errorf("partition %s is at %q, want %s", s.name, at[s.name], want)
		}
	}
}

// batch is some messages of a script from a position.
func (s *script) batch(from, to int) source.Batch {
	b := source.Batch{Next: strconv.Itoa(to), End: to == len(s.messages), Lag: int64(len(s.messages) - to)}
	if from == to {
		return b
	}
	b.Time = s.messages[to-1].Time
	b.Messages = func(yield func(source.Message) bool) {
		for _, m := range s.messages[from:to] {
			// A value that is used after Fold would change.
			m.Value = bytes.Clone(m.Value)
			more := yield(m)
			clear(m.Value)
			if !more {
				return
			}
		}
	}
	return b
}

// reader reads a script like a source. It claims, folds, releases at random moments, and
// claims again after ErrReclaim. It ends when the end is durable, or with ctx.
type reader struct {
	script *script
	sink   source.Sink
	rng    *rand.Rand
	// restless is how often in a hundred batches it releases for no reason.
	restless int
	// rest is the longest pause between batches.
	rest time.Duration
}

func (r *reader) run(ctx context.Context) error {
	for ctx.Err() == nil {
		p, err := r.sink.Claim(ctx, source.Claim{Partition: r.script.name, First: "0"})
		if err != nil {
			return fmt.Errorf("claim: %w", err)
		}
		done, err := r.read(ctx, p)
		if done || err != nil {
			return err
		}
		r.pause(ctx, 10*time.Millisecond)
	}
	return ctx.Err()
}

// read returns true when the end is durable, false to claim again.
func (r *reader) read(ctx context.Context, p source.Partition) (bool, error) {
	at, err := strconv.Atoi(p.Position())
	if err != nil {
		return false, fmt.Errorf("position: %w", err)
	}
	for {
		switch {
		case at == len(r.script.messages):
			if err = p.Fold(ctx, r.script.batch(at, at)); err == nil {
				return r.release(p) == nil, nil
			}
		case r.script.gaps[at]:
			err = p.Gap(ctx, sample.Gap{From: strconv.Itoa(at), To: strconv.Itoa(at + 1), Reason: "scripted"})
			at++
		default:
			to := at
			for want := at + 1 + r.rng.IntN(8); to < min(want, len(r.script.messages)) && !r.script.gaps[to]; {
				to++
			}
			err = p.Fold(ctx, r.script.batch(at, to))
			at = to
		}
		switch {
		case errors.Is(err, source.ErrReclaim):
			return false, nil
		case err != nil && ctx.Err() != nil:
			return false, errors.Join(ctx.Err(), r.release(p))
		case err != nil:
			return false, err
		case r.rng.IntN(100) < r.restless:
			_ = r.release(p) // lost samples are read again
			return false, nil
		}
		r.pause(ctx, r.rest)
	}
}

func (r *reader) release(p source.Partition) error {
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	return p.Release(ctx)
}

func (r *reader) pause(ctx context.Context, most time.Duration) {
	if most == 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(r.rng.Int64N(int64(most)))):
	}
}
