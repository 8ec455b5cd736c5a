//go:build e2e

package e2e_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

var hostileFaults = flag.Bool("faults.hostile", false, "run the tests in which a hot key has to be found beside a fault: TestClockAhead, TestFloodOfHotKeys, TestSlowStore")

const (
	// hotTable has a hot key, beside what a test does to other tables.
	hotTable  = "orders"
	hotWithin = 30 * time.Second
)

// heat makes the key of the table hot, two seconds after wrong has begun, and expects its
// finding.
func (w *scenario) heat(t *testing.T, topic string, wrong func()) {
	t.Helper()
	traffic := &liveTraffic{client: w.producer(t, topic), random: rand.New(rand.NewPCG(seed, 17))}
	traffic.run(t, 3*time.Second, "")
	var going sync.WaitGroup
	going.Go(wrong)
	traffic.run(t, 2*time.Second, "")
	began := time.Now()
	var found time.Duration
	for time.Since(began) < hotWithin && found == 0 {
		traffic.run(t, time.Second, hotTable)
		for _, f := range w.findings(t) {
			if f.Table == hotTable && f.Kind == "hot_key_write" && f.State == "firing" {
				found = time.Since(began)
			}
		}
	}
	going.Wait()
	if found == 0 {
		t.Fatalf("no finding of a key of %d WCU/s in %s", *latencyRate, hotWithin)
	}
	t.Logf("the hot key's finding fires after %s", rounded(found))
}

// newHostile is a scenario that has read something.
func newHostile(t *testing.T, topic string) *scenario {
	t.Helper()
	if !*hostileFaults {
		t.Skip("make faults runs it")
	}
	t.Parallel() // it mostly waits
	w := newScenario(t, topic)
	w.startCollectors(t)
	for _, c := range w.collectors {
		c.ready(t)
	}
	return w
}

// TestClockAhead: the clock of one producer is 55 minutes ahead for five seconds. The key that
// is hot meanwhile, of producers whose clocks are right, is found.
func TestClockAhead(t *testing.T) {
	const topic = "clock-ahead"
	w := newHostile(t, topic)
	wrong := &liveTraffic{client: w.producer(t, topic), random: rand.New(rand.NewPCG(seed, 19))}
	w.heat(t, topic, func() {
		for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(latencySlot) {
			wrong.next = time.Now().Add(55 * time.Minute)
			wrong.body = wrong.body[:0]
			for i := range 10 {
				wrong.add(hotTable, fmt.Sprint("order#", i), 1)
			}
			wrong.produce(t, wrong.random.Int32N(partitions))
		}
	})
}
