package report_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/testsupport/cputime"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// BenchmarkScale is what a second of event time costs a judge on a real Postgres, in
// processor time of its own process: reading each collector's delta, adding up, judging
// and writing. Each table has 70 keys, which are spread over all collectors; in one of
// ten tables one of them is hot.
//
//nolint:revive // b.N is not asked for: what is measured lasts as many seconds as it says
func BenchmarkScale(b *testing.B) {
	for _, c := range []struct{ collectors, tables int }{{2, 10}, {2, 100}, {10, 100}, {50, 100}, {10, 1000}, {50, 1000}} {
		b.Run(fmt.Sprintf("collectors=%d/tables=%d", c.collectors, c.tables), func(b *testing.B) {
			scale(b, c.collectors, c.tables)
		})
	}
}

// The judge has some seconds behind it before others, one a second, are measured.
const (
	warm     = 10
	measured = 20
)

func scale(b *testing.B, collectors, tables int) {
	s, err := store.Open(b.Context(), pgtest.Database(b), store.Options{Migrate: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	seed, err := s.HashSeed(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	f := &fleet{b: b, store: s, config: sketch.Config{Seed: seed}, collectors: collectors, tables: tables, began: begin()}
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

	before := liveBytes()
	j, err := report.New(report.Config{}, &probe{Store: s}, "judge", slog.New(slog.DiscardHandler))
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

	from, second := cputime.Used(), time.NewTicker(time.Second)
	defer second.Stop()
	for _, bodies := range deltas[warm+1:] {
		<-second.C
		f.commit(bodies)
	}
	behind := f.judged()
	spent := (cputime.Used()-from)/measured - writing
	b.ReportMetric(float64(spent.Microseconds())/1000, "judge-cpu-ms/s")
	b.ReportMetric(float64(f.bytes)/float64(len(deltas))/1000, "delta-KB/s")
	b.ReportMetric(float64(liveBytes()-before)/(1<<20), "heap-MiB")
	b.ReportMetric(behind.Seconds(), "behind-s")
	b.ReportMetric(0, "ns/op")
}

// fleet are collectors that each commit a delta a second.
type fleet struct {
	b                  *testing.B
	store              *store.Store
	config             sketch.Config
	collectors, tables int
	claims             []store.Position
	began              time.Time
	made, committed    int // seconds
	bytes              int64
}

func (f *fleet) name(n int) string { return fmt.Sprintf("collector-%02d", n) }

// second returns the deltas of the next second.
func (f *fleet) second() [][]byte {
	at := f.began.Add(time.Duration(f.made) * time.Second).UnixMilli()
	f.made++
	var bodies [][]byte
	for n := range f.collectors {
		shard, delta := sketch.NewShard(f.config), sketch.NewDelta(f.config)
		for table := range f.tables {
			for key := n; key < 70; key += f.collectors {
				units := int64(5 + key%40)
				if key == 0 && table%10 == 0 {
					units = 1200
				}
				err := shard.Add(&sample.Record{
					Time: at + int64(key), Table: fmt.Sprintf("table-%04d", table), PK: sample.KeyString(fmt.Sprintf("customer#%08d", key)),
					Op: sample.UpdateItem, WCU: sample.Milli(1000 * units), Rate: 1, N: units, Caller: "orders-api",
				})
				if err != nil {
					f.b.Fatal(err)
				}
			}
		}
		shard.Seal(delta)
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
		err := f.store.Commit(f.b.Context(), store.Commit{
			Writer: f.name(n), Seq: int64(f.committed), Version: sketch.Version, Body: body,
			Watermarks: []store.Watermark{{PartitionID: f.claims[n].PartitionID, Epoch: f.claims[n].Epoch, Time: f.began.Add(time.Duration(f.committed) * time.Second)}},
		})
		if err != nil {
			f.b.Fatal(err)
		}
	}
}

// judged waits until the last second is stored, and returns how long that took.
func (f *fleet) judged() time.Duration {
	began := time.Now()
	last := f.began.Add(time.Duration(f.committed-1) * time.Second)
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		at, any, err := f.store.LastWindow(f.b.Context(), sample.Target{Table: fmt.Sprintf("table-%04d", f.tables-1)})
		if err != nil {
			f.b.Fatal(err)
		}
		if any && !at.Before(last) {
			return time.Since(began)
		}
		if time.Now().After(deadline) {
			f.b.Fatalf("second %d is not judged: the last one is %s", f.committed, at)
		}
	}
}
