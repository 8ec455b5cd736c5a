package heatmap_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// BenchmarkLoad is a map of a table with 200 warm keys, its JSON and the page's 30 rows,
// of each step.
func BenchmarkLoad(b *testing.B) {
	for engine, url := range map[string]func() string{
		"postgres": func() string { return pgtest.Database(b) },
		"sqlite":   func() string { return "sqlite:" + b.TempDir() + "/bench.db" },
	} {
		s, err := store.Open(b.Context(), url(), store.Options{Migrate: true})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		at := sample.Target{Table: "orders"}
		end := time.Now().Truncate(time.Hour)
		fill(b, s, at, end)
		for _, span := range []time.Duration{5 * time.Minute, time.Hour, 6 * time.Hour, 48 * time.Hour, 14 * 24 * time.Hour} {
			b.Run(fmt.Sprintf("%s/%s", engine, span), func(b *testing.B) {
				for b.Loop() {
					m, err := heatmap.Load(b.Context(), s, heatmap.Query{Target: at, Range: address.Range{From: end.Add(-span), To: end}, Rows: heatmap.DefaultRows})
					if err != nil {
						b.Fatal(err)
					}
					if text, err := json.Marshal(m); err != nil || len(m.Rows) != heatmap.DefaultRows || len(text) < 10_000 {
						b.Fatalf("%d rows, %d bytes, %v", len(m.Rows), len(text), err)
					}
				}
			})
		}
	}
}

// fill stores 400 buckets of each level before a time, and the minutes of 16 days.
func fill(b *testing.B, s *store.Store, at sample.Target, end time.Time) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	lease, _, err := s.AcquireLease(b.Context(), "judge", "bench", time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	var j store.Judgement
	for n := int64(1); n <= 400; n++ {
		w := &sketch.Window{Target: at}
		for k := range uint64(200) {
			w.Keys = append(w.Keys, sketch.KeyLoad{
				Hash: k + 1, Key: sample.KeyString(fmt.Sprintf("TENANT#%04d#ORDERS", 37*k)), Requests: 1,
				Low: sketch.Load{Write: sample.Milli(30_000 + random.IntN(900_000))},
			})
		}
		body, err := w.MarshalBinary()
		if err != nil {
			b.Fatal(err)
		}
		j.Windows = append(j.Windows, store.Window{Target: at, Second: end.Add(-time.Duration(n) * time.Second), Complete: true, Body: body})
		if body, err = rollup.OfSecond(w, true).MarshalBinary(); err != nil {
			b.Fatal(err)
		}
		for _, l := range rollup.Levels {
			begins := l.Begin(end.Unix() - n*int64(l))
			j.Rollups = append(j.Rollups, store.Rollup{Target: at, Level: int64(l), Begins: time.Unix(begins, 0), Body: body})
		}
	}
	for n := range 16 * 24 * 60 {
		j.Seen = append(j.Seen, store.SeenMinute{Minute: end.Add(-time.Duration(n+1) * time.Minute), Seconds: 1<<60 - 1})
	}
	if err := s.Judge(b.Context(), lease, j); err != nil {
		b.Fatal(err)
	}
}
