package store_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// BenchmarkCommit is one collector's commit with eight partitions and a delta
// of 100 KB, the size measured at 100 tables.
func BenchmarkCommit(b *testing.B) {
	benchmarkEngines(b, func(b *testing.B, s *store.Store) {
		const partitions = 8
		c := store.Commit{Writer: "a", Body: make([]byte, 100<<10)}
		_, _ = rand.Read(c.Body)
		for n := range partitions {
			p, err := s.Claim(b.Context(), "a", store.Claim{PartitionID: store.PartitionID{Source: "kafka:g/t", Name: fmt.Sprint(n)}, First: "0"})
			if err != nil {
				b.Fatal(err)
			}
			c.Moves = append(c.Moves, store.Move{PartitionID: p.PartitionID, Epoch: p.Epoch, To: "0"})
			c.Watermarks = append(c.Watermarks, store.Watermark{PartitionID: p.PartitionID, Epoch: p.Epoch})
		}
		b.SetBytes(int64(len(c.Body)))
		for b.Loop() {
			c.Seq++
			for n := range c.Moves {
				c.Moves[n].From, c.Moves[n].To = c.Moves[n].To, fmt.Sprint(c.Seq*100_000)
				c.Watermarks[n].Time = time.Unix(c.Seq, 0)
			}
			if err := s.Commit(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkJudge is one judgement that closes a second of 100 tables.
func BenchmarkJudge(b *testing.B) {
	benchmarkEngines(b, func(b *testing.B, s *store.Store) {
		lease, _, err := s.AcquireLease(b.Context(), "judge", "a", time.Hour)
		if err != nil {
			b.Fatal(err)
		}
		j := store.Judgement{Cursors: map[string]int64{}, Windows: make([]store.Window, 100)}
		body := make([]byte, 4<<10)
		_, _ = rand.Read(body)
		for second := int64(1); b.Loop(); second++ {
			for i := range j.Windows {
				j.Windows[i] = store.Window{Target: sample.Target{Table: fmt.Sprint("table-", i)}, Second: time.Unix(second, 0),
					Requests: 1, Vector: map[string]int64{"a": second}, Complete: true, Body: body}
			}
			j.Cursors["a"] = second
			if err := s.Judge(b.Context(), lease, j); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchmarkEngines(b *testing.B, run func(*testing.B, *store.Store)) {
	for name, fresh := range map[string]func() string{
		"postgres": func() string { return pgtest.Database(b) },
		"sqlite":   func() string { return "sqlite:" + b.TempDir() + "/bench.db" },
	} {
		b.Run(name, func(b *testing.B) {
			url := fresh()
			s, err := store.Open(b.Context(), url, store.Options{Migrate: true})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			before := written(b, url)
			run(b, s)
			b.ReportMetric(float64(written(b, url)-before)/float64(b.N), "wal-B/op")
		})
	}
}

// written is how far Postgres's write-ahead log has come; 0 on SQLite.
func written(b *testing.B, url string) (bytes int64) {
	if strings.HasPrefix(url, "postgres") {
		err := raw(b, url).QueryRow(`SELECT pg_current_wal_lsn() - '0/0'::pg_lsn`).Scan(&bytes)
		if err != nil {
			b.Fatal(err)
		}
	}
	return bytes
}

// BenchmarkRollups is the judgement that ends ten seconds of 100 tables with 150 hot keys
// each.
func BenchmarkRollups(b *testing.B) {
	benchmarkEngines(b, func(b *testing.B, s *store.Store) {
		lease, _, err := s.AcquireLease(b.Context(), "judge", "a", time.Hour)
		if err != nil {
			b.Fatal(err)
		}
		j := store.Judgement{Rollups: make([]store.Rollup, 100)}
		body := make([]byte, 2600)
		_, _ = rand.Read(body)
		for n := int64(1); b.Loop(); n++ {
			for i := range j.Rollups {
				j.Rollups[i] = store.Rollup{Target: sample.Target{Table: fmt.Sprint("table-", i)}, Level: 10, Begins: time.Unix(10*n, 0), Body: body}
			}
			if err := s.Judge(b.Context(), lease, j); err != nil {
				b.Fatal(err)
			}
			lease.Writes++
		}
		b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
}

// BenchmarkOutbox reads, settles and delivers a hundred of the notifications that wait, at
// several numbers of them: the time of each may not grow with the number.
func BenchmarkOutbox(b *testing.B) {
	const most = 100
	for _, waiting := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(waiting), func(b *testing.B) {
			benchmarkEngines(b, func(b *testing.B, s *store.Store) {
				lease, _, err := s.AcquireLease(b.Context(), "judge", "a", time.Hour)
				if err != nil {
					b.Fatal(err)
				}
				next := 0
				fill := func(n int) {
					for n > 0 {
						all := make([]store.Notification, min(n, 10_000))
						for i := range all {
							next++
							incident := fmt.Sprint("i", next)
							all[i] = store.Notification{ID: incident, Fingerprint: incident, Incident: incident, Event: "firing", Route: "r", Flow: fmt.Sprint("t", next%50), Payload: []byte("{}")}
						}
						if err := s.Judge(b.Context(), lease, store.Judgement{Notifications: all}); err != nil {
							b.Fatal(err)
						}
						lease.Writes++
						n -= len(all)
					}
				}
				fill(waiting)
				for b.Loop() {
					due, err := s.DueNotifications(b.Context(), "r", most)
					if err != nil || len(due) != most {
						b.Fatal(len(due), err)
					}
					incidents := make([]string, len(due))
					for i := range due {
						incidents[i] = due[i].Incident
					}
					if err := s.SettleNotifications(b.Context(), "r", incidents); err != nil {
						b.Fatal(err)
					}
					for _, n := range due {
						if err := s.MarkDelivered(b.Context(), n.ID, ""); err != nil {
							b.Fatal(err)
						}
					}
					b.StopTimer()
					fill(most)
					b.StartTimer()
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*most), "µs/message")
			})
		})
	}
}
