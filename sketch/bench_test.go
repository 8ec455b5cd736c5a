package sketch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/cputime"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// stream is a stream of requests in little memory, read one after another as messages
// are: a benchmark over an array of records measures how fast memory gives them.
type stream struct {
	keys   string
	all    []request
	table  string
	tables []string
}

type request struct {
	time        int64
	end         uint32 // of its key, in keys
	op          sample.Op
	read, write int32
}

// streamed takes the trace at 200,000 requests a second, two seconds of it.
func streamed() *stream {
	s := &stream{}
	var keys strings.Builder
	for r := range fromTrace(200_000, 400_000) {
		keys.WriteString(r.PK.Text)
		s.all = append(s.all, request{r.Time, uint32(keys.Len()), r.Op, int32(r.RCU), int32(r.WCU)})
		s.table = r.Table
	}
	s.keys = keys.String()
	return s
}

// spread returns the stream with each request in another of n tables than the one before.
func (s stream) spread(n int) *stream {
	for i := range n {
		s.tables = append(s.tables, fmt.Sprintf("orders-%03d", i))
	}
	return &s
}

// each passes on every record in one reused Record, as a decoder does.
func (s *stream) each(use func(r *sample.Record)) {
	r := sample.Record{Table: s.table, PK: sample.Key{Type: sample.TypeString}, Rate: 1, N: 1}
	from := uint32(0)
	for i := range s.all {
		q := &s.all[i]
		r.Time, r.Op, r.RCU, r.WCU = q.time, q.op, sample.Milli(q.read), sample.Milli(q.write)
		r.PK.Text = s.keys[from:q.end]
		from = q.end
		if len(s.tables) > 0 {
			r.Table = s.tables[i%len(s.tables)]
		}
		use(&r)
	}
}

// BenchmarkAdd adds two dense seconds of the trace to a shard and seals them, in turn
// with an exact map of the same: as they are, with cells, and with a hundred tables in turn.
func BenchmarkAdd(b *testing.B) {
	records := streamed()
	b.Run("one table", func(b *testing.B) { benchmarkAdd(b, records, nil) })
	b.Run("one table with cells", func(b *testing.B) { benchmarkAdd(b, records, everywhere) })
	b.Run("100 tables", func(b *testing.B) { benchmarkAdd(b, records.spread(100), nil) })
}

func benchmarkAdd(b *testing.B, records *stream, placed func(sample.Target) bool) {
	s := newShard()
	s.PlaceKeys(placed)
	var ours, exact cputime.Rounds
	for b.Loop() {
		ours.Take(func() {
			records.each(func(r *sample.Record) {
				if err := s.Add(r); err != nil {
					b.Fatal(err)
				}
			})
			sealed(s)
		})
		exact.Take(func() {
			counts := exactCounts{}
			records.each(func(r *sample.Record) { counts.add(r) })
			if len(counts) == 0 {
				b.Fatal("nothing is counted")
			}
		})
	}
	cputime.Report(b, "map", len(records.all), ours, exact)
}

// BenchmarkQuietSecond measures a second with one record, from its start to its Seal.
func BenchmarkQuietSecond(b *testing.B) {
	s := newShard()
	r := write(start, "k", 1)
	var d sketch.Delta
	b.ReportAllocs()
	for b.Loop() {
		r.Time += 1000
		if err := s.Add(&r); err != nil {
			b.Fatal(err)
		}
		d.Windows, d.Cardinality = d.Windows[:0], d.Cardinality[:0]
		s.Seal(&d)
	}
}
