//go:build e2e

package e2e_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sketch"
)

var pathSamples = flag.Int("path.samples", 1_000_000, "how much of the trace TestPath and TestHostile write, of 5,000,000")

// TestPath writes the trace to Kafka and follows it to findings in Postgres.
func TestPath(t *testing.T) {
	for _, spread := range []bool{false, true} {
		name, topic := "keyed by partition key", "keyed"
		if spread {
			name, topic = "spread at random", "spread"
		}
		t.Run(name, func(t *testing.T) {
			l := layout{topic: topic, perSecond: 200_000, limit: *pathSamples, spread: spread}
			w := newScenario(t, l.topic)
			l.produce(t, w.kafka.Addr, time.Now().Add(-time.Minute).Truncate(time.Second))
			want := readTopic(t, w.kafka.Addr, l.topic)
			log := w.logPosition(t)
			began := time.Now()
			w.startCollectors(t)
			w.matchesTopic(t, want, await.Limit)
			took := time.Since(began) - 5*time.Second
			want.checkFindings(t, w.findings(t))
			written := w.written(t, log)
			for _, c := range w.collectors {
				c.stop(t)
				t.Logf("%s: at most %d MiB", c.name, c.peak>>20)
			}
			t.Logf("the sketch's default memory, a shard: %d live seconds, each with %d candidates and %d KiB of counters",
				sketch.SecondsInRing, sketch.DefaultSets*sketch.Ways, sketch.DefaultCounterBytes>>10)
			t.Logf("%d samples in %s, %.0f a second; %s to Postgres",
				want.requests, took.Round(time.Millisecond), float64(want.requests)/took.Seconds(), written.over(took))
		})
	}
}

// TestHostile mixes 1% broken messages of eleven kinds in.
func TestHostile(t *testing.T) {
	l := layout{topic: "hostile", perSecond: 200_000, limit: *pathSamples, hostile: true}
	w := newScenario(t, l.topic)
	l.produce(t, w.kafka.Addr, time.Now().Add(-time.Minute).Truncate(time.Second))
	want := readTopic(t, w.kafka.Addr, l.topic)
	w.startCollectors(t)
	w.matchesTopic(t, want, 2*time.Minute)
	bad, reasons, err := w.bad()
	must.Succeed(t, err)
	if bad != want.bad || len(reasons) < 6 {
		t.Errorf("%d bad samples are stored by reason %v, the topic holds %d", bad, reasons, want.bad)
	}
	for _, c := range w.collectors {
		c.ready(t)
	}
	t.Logf("%d good samples, bad ones by reason: %v", want.requests, reasons)
}

// bad returns the stored bad samples, and their number by reason.
func (w *scenario) bad() (n int64, reasons map[string]int64, err error) {
	rows, err := w.database.Query(`SELECT reason, sum(count)::bigint FROM bad_samples GROUP BY reason`)
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	reasons = map[string]int64{}
	for rows.Next() {
		var reason string
		var count int64
		if err := rows.Scan(&reason, &count); err != nil {
			return 0, nil, err
		}
		reasons[reason] = count
		n += count
	}
	return n, reasons, rows.Err()
}

// traffic is what went into Postgres.
type traffic struct{ bytes, rows int64 }

func (w *scenario) logPosition(t *testing.T) (p traffic) {
	t.Helper()
	err := w.database.QueryRow(`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint,
		(SELECT sum(tup_inserted + tup_updated)::bigint FROM pg_stat_database)`).Scan(&p.bytes, &p.rows)
	must.Succeed(t, err)
	return p
}

func (w *scenario) written(t *testing.T, since traffic) traffic {
	t.Helper()
	now := w.logPosition(t)
	return traffic{now.bytes - since.bytes, now.rows - since.rows}
}

func (p traffic) over(d time.Duration) string {
	return fmt.Sprintf("%d KiB of write-ahead log and %d rows in all, %.0f KiB and %.0f rows a second",
		p.bytes>>10, p.rows, float64(p.bytes)/1024/d.Seconds(), float64(p.rows)/d.Seconds())
}
