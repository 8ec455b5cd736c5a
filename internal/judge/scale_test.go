package judge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	wait "github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/cputime"
	"github.com/keyheat/keyheat/internal/testsupport/heap"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// BenchmarkScale is what a second of event time costs a judge on a real Postgres, in
// processor time of its own process: reading each collector's delta, adding up, judging
// and writing. Each table has 70 keys, which are spread over all collectors; in one of
// ten tables one of them is hot. With maps each table has eight partitions. One size by itself:
//
//	go test ./internal/judge -run '^$' -bench 'Scale/collectors=10/tables=100$'
//
//nolint:revive // b.N is not asked for: what is measured lasts as many seconds as it says
func BenchmarkScale(b *testing.B) {
	for _, c := range []struct{ collectors, tables int }{{2, 10}, {2, 100}, {10, 100}, {50, 100}, {10, 1000}, {50, 1000}} {
		b.Run(fmt.Sprintf("collectors=%d/tables=%d", c.collectors, c.tables), func(b *testing.B) {
			scale(b, c.collectors, c.tables, false)
		})
	}
	b.Run("collectors=10/tables=100/maps", func(b *testing.B) { scale(b, 10, 100, true) })
}

// BenchmarkJudging is what of that is without a store: decoding, adding up, judging, and
// making the rows of the judgement.
//
//nolint:revive // as above
func BenchmarkJudging(b *testing.B) {
	for _, c := range []struct{ collectors, tables int }{{2, 100}, {10, 100}, {50, 100}, {10, 1000}, {50, 1000}} {
		b.Run(fmt.Sprintf("collectors=%d/tables=%d", c.collectors, c.tables), func(b *testing.B) {
			judging(b, c.collectors, c.tables)
		})
	}
}

// BenchmarkPartitions compares the judging of the same seconds without maps of the partitions, and
// with maps of eight each.
func BenchmarkPartitions(b *testing.B) {
	for _, c := range []struct{ tables, keys int }{{64, 70}, {4, 5000}} {
		b.Run(fmt.Sprintf("tables=%d/keys=%d", c.tables, c.keys), func(b *testing.B) {
			comparePositions(b, c.tables, c.keys)
		})
	}
}

func comparePositions(b *testing.B, tables, keys int) {
	const collectors = 10
	f := newFleet(b, 1, collectors, tables)
	f.keys = keys
	var deltas [][][]byte
	for range warm + measured {
		deltas = append(deltas, f.second())
	}
	maps := map[detect.Target]*partition.Map{}
	for table := range tables {
		maps[sample.Target{Table: fmt.Sprintf("table-%04d", table)}] = eightPartitions()
	}
	judge := func(claimed map[detect.Target]*partition.Map) {
		s := newState(verdict.Options{MaxKeys: 2 << 20})
		s.Partitions = claimed
		for n, bodies := range deltas {
			second := f.began.Unix() + int64(n)
			var read []fold.Delta
			for c := range collectors {
				var d sketch.Delta
				if err := d.UnmarshalBinary(bodies[c]); err != nil {
					b.Fatal(err)
				}
				read = append(read, fold.NewDelta(f.name(c), int64(n+1), &d))
			}
			judgeDeltas(b, s, read, fold.Horizon{Complete: second + 1, Over: second + 1}, time.Unix(second+2, 0))
		}
	}
	var without, with cputime.Rounds
	for b.Loop() {
		without.Take(func() { judge(nil) })
		with.Take(func() { judge(maps) })
	}
	cputime.Report(b, "with-maps", len(deltas), without, with)
}

// eightPartitions returns a map of eight equal partitions.
func eightPartitions() *partition.Map {
	listed := make([]partition.Listed, 8)
	for i := range listed {
		listed[i] = partition.Listed{Name: fmt.Sprintf("shard-%d", i), Open: true, Observed: &partition.Observed{}}
	}
	for i := range 2000 {
		p := position.String(fmt.Sprint("key#", i))
		listed[p.Cell(3)].Observed.Add(p)
	}
	m := partition.New(false)
	m.Update(listed, time.Now())
	return m
}

func judging(b *testing.B, collectors, tables int) {
	f := newFleet(b, 1, collectors, tables)
	var deltas [][][]byte
	for range warm + measured {
		deltas = append(deltas, f.second())
	}
	before := heap.Live()
	s := newState(verdict.Options{MaxKeys: 2 << 20})
	var from time.Duration
	var allocated uint64
	rows, remembered, parts := 0, 0, min(looks, collectors)
	for n, bodies := range deltas {
		if n == warm {
			from, allocated = cputime.Used(), allocatedBytes()
		}
		second := f.began.Unix() + int64(n)
		for look := range parts {
			var read []fold.Delta
			for c := look * collectors / parts; c < (look+1)*collectors/parts; c++ {
				var d sketch.Delta
				if err := d.UnmarshalBinary(bodies[c]); err != nil {
					b.Fatal(err)
				}
				read = append(read, fold.NewDelta(f.name(c), int64(n+1), &d))
			}
			complete := second
			if look == parts-1 {
				complete++
			}
			p := judgeDeltas(b, s, read, fold.Horizon{Complete: complete, Over: complete}, time.Unix(second+2, 0))
			for _, c := range p.Checkpoints {
				remembered += len(c.Body)
			}
			rows += len(p.Windows) + len(p.Findings) + len(p.Incidents) + len(p.Rollups)
		}
	}
	spent := (cputime.Used() - from) / measured
	b.ReportMetric(float64(spent.Microseconds())/1000, "judge-cpu-ms/s")
	b.ReportMetric(float64(allocatedBytes()-allocated)/measured/1e6, "allocated-MB/s")
	b.ReportMetric(float64(heap.Live()-before)/(1<<20), "heap-MiB")
	b.ReportMetric(float64(rows)/float64(len(deltas)), "rows/s")
	b.ReportMetric(float64(remembered)/float64(len(deltas)), "checkpoint-B/s")
	b.ReportMetric(0, "ns/op")
	runtime.KeepAlive(s)
	runtime.KeepAlive(deltas)
}

// The judge has some seconds behind it before others are measured. The deltas of a second
// come in several parts, and the judge looks at each, as it does when collectors commit at
// different times; never without a delta, and so as often as there are collectors at most.
const (
	warm     = 10
	measured = 20
	looks    = 4
)

func scale(b *testing.B, collectors, tables int, mapped bool) {
	s, err := store.Open(b.Context(), pgtest.Database(b), store.Options{Migrate: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if mapped {
		var j store.Judgement
		document, err := json.Marshal(eightPartitions())
		must(b, err)
		for table := range tables {
			j.Maps = append(j.Maps, store.TargetDocument{Target: sample.Target{Table: fmt.Sprintf("table-%04d", table)}, Document: document})
		}
		judgeOnce(b, s, j)
	}
	seed, err := s.HashSeed(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	f := newFleet(b, seed, collectors, tables)
	f.store = s
	for n := range collectors {
		p, err := s.Claim(b.Context(), f.name(n), store.Claim{PartitionID: store.PartitionID{Source: "test", Name: f.name(n)}, First: "0"})
		if err != nil {
			b.Fatal(err)
		}
		f.claims = append(f.claims, p)
	}
	var deltas [][][]byte
	for range warm + 1 + measured {
		deltas = append(deltas, f.second())
	}
	from := cputime.Used()
	for _, bodies := range deltas[:warm] {
		f.commit(bodies)
	}
	writing := (cputime.Used() - from) / warm

	before := heap.Live()
	counted := &writes{Store: s, began: make(chan struct{}, 1)}
	// No partition is stalled: on a busy machine a judge of many tables takes longer for a
	// second than partitions may stand still, and would close and load every roll-up early.
	j, err := judge.New(judge.Config{Stall: time.Hour}, counted, "judge", slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	var group sync.WaitGroup
	group.Go(func() {
		if err := j.Run(ctx); err != nil && ctx.Err() == nil {
			b.Errorf("Run: %v", err)
		}
	})
	defer group.Wait()
	defer stop()
	f.commit(deltas[warm])
	f.judged()

	passes, rows, stored, allocated := counted.passes.Load(), counted.rows.Load(), counted.bytes.Load(), allocatedBytes()
	from, began, parts := cputime.Used(), time.Now(), min(looks, collectors)
	for _, bodies := range deltas[warm+1:] {
		f.committed++
		for n := range parts {
			counted.reading.Lock() // so that a busy machine does not decide how many passes there are
			for c := n * collectors / parts; c < (n+1)*collectors/parts; c++ {
				f.commitOne(c, bodies[c])
			}
			next := counted.passes.Load() + 1
			counted.reading.Unlock()
			for counted.passes.Load() < next {
				<-counted.began
			}
		}
	}
	f.judged()
	clock := time.Since(began) / measured
	spent := (cputime.Used()-from)/measured - writing
	b.ReportMetric(float64(spent.Microseconds())/1000, "judge-cpu-ms/s")
	b.ReportMetric(float64(counted.passes.Load()-passes)/measured, "passes/s")
	b.ReportMetric(float64(allocatedBytes()-allocated)/measured/1e6, "allocated-MB/s")
	b.ReportMetric(float64(f.bytes)/float64(len(deltas))/1000, "delta-KB/s")
	b.ReportMetric(float64(counted.rows.Load()-rows)/measured, "judge-rows/s")
	b.ReportMetric(float64(counted.bytes.Load()-stored)/measured/1000, "judge-KB/s")
	b.ReportMetric(float64(heap.Live()-before)/(1<<20), "heap-MiB")
	b.ReportMetric(float64(clock.Microseconds())/1000, "clock-ms/s")
	b.ReportMetric(0, "ns/op")
}

// allocatedBytes returns how many bytes were allocated so far.
func allocatedBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// writes is a store that counts what a judge reads and writes: its passes, and the rows
// of its judgements with the bytes of their bodies and documents.
type writes struct {
	*store.Store
	passes, rows, bytes atomic.Int64
	reading             sync.Mutex    // held while nothing is read
	began               chan struct{} // has one when a pass has begun
}

func (w *writes) Read(ctx context.Context, after map[string]int64, l store.ReadLimit) (store.Snapshot, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	w.passes.Add(1)
	select {
	case w.began <- struct{}{}:
	default:
	}
	return w.Store.Read(ctx, after, l)
}

func (w *writes) Judge(ctx context.Context, l store.Lease, j store.Judgement) error {
	w.rows.Add(int64(len(j.Windows) + len(j.Rollups) + len(j.Seen) + len(j.Views) + len(j.Findings) +
		len(j.Transitions) + len(j.Incidents) + len(j.IncidentTransitions) + len(j.Notifications) + len(j.Cursors)))
	for i := range j.Windows {
		w.bytes.Add(int64(len(j.Windows[i].Body)))
	}
	for i := range j.Rollups {
		w.bytes.Add(int64(len(j.Rollups[i].Body)))
	}
	for i := range j.Views {
		w.bytes.Add(int64(len(j.Views[i].Document)))
	}
	for i := range j.Findings {
		w.bytes.Add(int64(len(j.Findings[i].Document)))
	}
	for i := range j.Incidents {
		w.bytes.Add(int64(len(j.Incidents[i].Document)))
	}
	return w.Store.Judge(ctx, l, j)
}

// fleet are collectors that each commit a delta a second.
type fleet struct {
	b                  *testing.B
	store              *store.Store
	config             sketch.Config
	shard              *sketch.Shard // one after another, all collectors'
	collectors, tables int
	keys               int // of a table; more than 70 have a write unit each
	claims             []store.Position
	began              time.Time
	made, committed    int // seconds
	bytes              int64
}

func newFleet(b *testing.B, seed uint64, collectors, tables int) *fleet {
	c := sketch.Config{Seed: seed}
	return &fleet{b: b, config: c, shard: sketch.NewShard(c), collectors: collectors, tables: tables, keys: 70, began: begin()}
}

func (f *fleet) name(n int) string { return fmt.Sprintf("collector-%02d", n) }

// second returns the deltas of the next second.
func (f *fleet) second() [][]byte {
	at := f.began.Add(time.Duration(f.made) * time.Second).UnixMilli()
	f.made++
	var bodies [][]byte
	for n := range f.collectors {
		delta := sketch.NewDelta(f.config)
		for table := range f.tables {
			for key := n; key < f.keys; key += f.collectors {
				units := int64(5 + key%40)
				if f.keys > 70 {
					units = 1
				}
				if key == 0 && table%10 == 0 {
					units = 1200
				}
				err := f.shard.Add(&sample.Record{
					Time: at + int64(key%1000), Table: fmt.Sprintf("table-%04d", table), PK: sample.KeyString(fmt.Sprintf("customer#%08d", key)),
					Op: sample.UpdateItem, WCU: 1000, Rate: 1, N: units, Caller: "orders-api",
				})
				if err != nil {
					f.b.Fatal(err)
				}
			}
		}
		f.shard.Seal(delta)
		body, err := delta.MarshalBinary()
		if err != nil {
			f.b.Fatal(err)
		}
		bodies = append(bodies, body)
		f.bytes += int64(len(body))
	}
	return bodies
}

// commit stores the deltas of a second.
func (f *fleet) commit(bodies [][]byte) {
	f.committed++
	for n, body := range bodies {
		f.commitOne(n, body)
	}
}

// commitOne stores one collector's delta of the newest second.
func (f *fleet) commitOne(n int, body []byte) {
	err := f.store.Commit(f.b.Context(), store.Commit{
		Writer: f.name(n), Seq: int64(f.committed), Version: sketch.Version, Body: body,
		Watermarks: []store.Watermark{{PartitionID: f.claims[n].PartitionID, Epoch: f.claims[n].Epoch, Time: f.began.Add(time.Duration(f.committed) * time.Second)}},
	})
	if err != nil {
		f.b.Fatal(err)
	}
}

// judged waits until the last second is stored.
func (f *fleet) judged() {
	last := f.began.Add(time.Duration(f.committed-1) * time.Second)
	wait.Until(f.b, fmt.Sprintf("second %d is judged", f.committed), func() bool {
		at, any, err := f.store.LastWindow(f.b.Context(), sample.Target{Table: fmt.Sprintf("table-%04d", f.tables-1)})
		if err != nil {
			f.b.Fatal(err)
		}
		return any && !at.Before(last)
	})
}
