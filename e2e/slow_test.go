//go:build e2e

package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
)

// TestSlowStore: every message to and from Postgres takes 100 ms, so that each statement takes
// 200 ms. The hot key is found beside 100 tables.
func TestSlowStore(t *testing.T) {
	const (
		topic  = "slow-store"
		tables = 100
	)
	w := newHostile(t, topic)
	direct := w.postgres.URL("postgres")
	way, through := pgtest.Through(t, direct)
	for _, p := range append(w.collectors, w.reporter) {
		p.stop(t)
		p.rewrite(t, direct, through)
		p.start(t)
		p.ready(t)
	}
	way.Slow(100 * time.Millisecond)
	others := w.traffic(t, topic, 29)
	w.heat(t, w.traffic(t, topic, 17), 0, func() {
		for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(latencySlot) {
			others.next = time.Now()
			others.body = others.body[:0]
			for i := range tables {
				others.add(fmt.Sprint("table-", i), fmt.Sprint("key#", others.random.IntN(300)), 1)
			}
			others.produce(t, others.random.Int32N(partitions))
		}
	})
}
