//go:build e2e

package e2e_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

var hostileFaults = flag.Bool("faults.hostile", false, "run the tests in which a hot key has to be found beside a fault: TestClockAhead, TestFloodOf…, TestSlowStore")

const (
	// hotTable has a hot key, beside what a test does to other tables.
	hotTable  = "orders"
	hotWithin = 30 * time.Second
)

// traffic returns what writes live traffic to a topic.
func (w *scenario) traffic(t *testing.T, topic string, n uint64) *liveTraffic {
	t.Helper()
	return &liveTraffic{client: w.producer(t, topic), random: rand.New(rand.NewPCG(seed, n))}
}

// heat makes the table's key hot, two seconds after wrong has begun, until its finding fires,
// and for as long as lasts.
func (w *scenario) heat(t *testing.T, traffic *liveTraffic, lasts time.Duration, wrong func()) {
	t.Helper()
	traffic.run(t, 3*time.Second, "")
	var going sync.WaitGroup
	going.Go(wrong)
	traffic.run(t, 2*time.Second, "")
	began := time.Now()
	var found time.Duration
	for time.Since(began) < lasts || found == 0 && time.Since(began) < hotWithin {
		traffic.run(t, time.Second, hotTable)
		for _, f := range w.findings(t) {
			if found == 0 && f.Table == hotTable && f.Subject == "key_writes" && f.State == "firing" {
				found = time.Since(began)
			}
		}
	}
	going.Wait()
	if found == 0 || found > hotWithin {
		t.Fatalf("the hot key's finding fires after %s, want it within %s", found, hotWithin)
	}
	t.Logf("the hot key's finding fires after %s", rounded(found))
}

// newHostile is a scenario that has read something.
func newHostile(t *testing.T, topic string, settings ...string) *scenario {
	t.Helper()
	if !*hostileFaults {
		t.Skip("make faults runs it")
	}
	w := newScenario(t, topic, settings...)
	w.startCollectors(t)
	for _, c := range w.collectors {
		c.ready(t)
	}
	return w
}

const (
	farAhead = 55 * time.Minute
	// aheadRate and aheadFor are the load of the key that is hot while a clock is ahead.
	aheadRate = 1800
	aheadFor  = 50 * time.Second
	// coolWithin is keep_firing, and time to judge and deliver.
	coolWithin = 75 * time.Second
)

// TestClockAhead has the clocks of producers ahead, one after another, and those of hosts. The
// key that is hot meanwhile is found and told, and told to be over soon after. Everything is
// counted but the samples of the wrong clocks, which are refused.
func TestClockAhead(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, c := range []struct {
		name string
		host func(*scenario) *process // whose clock is ahead
		says string                   // why it is not ready
	}{
		{"producers", nil, "correct the clock of their producer"},
		{"collector", func(w *scenario) *process { return w.collectors[0] }, "ahead of the database's: correct its time synchronisation"},
		{"reporter", func(w *scenario) *process { return w.reporter }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // it mostly waits
			if c.host != nil && runtime.GOARCH != "amd64" {
				t.Skip("hosts' clocks are shifted on amd64 alone")
			}
			pages := make(chan page, 1000)
			receiver := httptest.NewServer(receivePages(pages))
			t.Cleanup(receiver.Close)
			w := newHostile(t, "clock-ahead-"+c.name, fmt.Sprintf(`
policy: {for: 0s}
receivers:
  pager: {type: webhook, url: %q, limit: -1}
`, receiver.URL))
			suspect := w.collectors[0]
			if c.host != nil {
				suspect = c.host(w)
				suspect.stop(t)
				suspect.ahead = farAhead
				suspect.start(t)
			}
			if c.says == "" {
				suspect.ready(t)
			}
			w.withClockAhead(t, "clock-ahead-"+c.name, c.host == nil, pages, suspect, c.says)
		})
	}
}

// withClockAhead makes a key hot and cool again while a process says what is wrong, or nothing.
func (w *scenario) withClockAhead(t *testing.T, topic string, producers bool, pages <-chan page, suspect *process, says string) {
	t.Helper()
	traffic := w.traffic(t, topic, 17)
	traffic.rate = aheadRate
	var refused int64
	w.heat(t, traffic, aheadFor, func() {
		if producers {
			refused = w.produceAhead(t, topic)
		}
	})
	over := time.Now()
	if says == "" {
		suspect.ready(t)
	} else if _, err := suspect.get("/-/ready"); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%s is not ready because of %v, want %q", suspect.name, err, says)
	}
	known := newView()
	within(t, coolWithin, "the key is told to be hot, and to be over", func() error {
		traffic.run(t, time.Second, "")
		known.take(t, pages)
		for _, f := range w.findings(t) {
			if f.State == "firing" && f.Case != "bad_samples" { // which is of the refused ones' minute
				return fmt.Errorf("%s of %s fires", f.Case, f.Table)
			}
		}
		if known.fired[hotTable] != 1 || known.last[hotTable] != "resolved" {
			return fmt.Errorf("told %d times, and last %q", known.fired[hotTable], known.last[hotTable])
		}
		return nil
	})
	cool := time.Since(over)
	w.reporter.ready(t)
	want := readTopic(t, w.kafka.Addr, topic)
	want.requests, want.units = want.requests-refused, want.units-refused
	w.matchesTopic(t, want, time.Minute)
	w.refused(t, refused)
	for _, p := range known.seen {
		if p.delay != "" {
			t.Errorf("%s of %s: %q, want no delay", p.event, p.table, p.delay)
		}
	}
	t.Logf("%d samples counted once, %d refused; told to be over %s after the load", want.requests, refused, rounded(cool))
}

// produceAhead lets the clocks of three producers be ahead for five seconds each, one after
// another, and returns how many samples these wrote.
func (w *scenario) produceAhead(t *testing.T, topic string) (samples int64) {
	for i, ahead := range []time.Duration{farAhead, 10 * time.Minute, farAhead} {
		wrong := w.traffic(t, topic, 19+uint64(i))
		for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(latencySlot) {
			wrong.next = time.Now().Add(ahead)
			wrong.body = wrong.body[:0]
			for i := range 10 {
				wrong.add(hotTable, fmt.Sprint("order#", i), 1)
				samples++
			}
			wrong.produce(t, wrong.random.Int32N(partitions))
		}
	}
	return samples
}

// refused expects so many samples that are ahead of the clock, no other bad ones, and no
// stored second that is ahead.
func (w *scenario) refused(t *testing.T, want int64) {
	t.Helper()
	var ahead, others, seconds int64
	err := w.database.QueryRow(`
		SELECT coalesce(sum(count) FILTER (WHERE reason = 'ahead_of_clock'), 0)::bigint,
			coalesce(sum(count) FILTER (WHERE reason <> 'ahead_of_clock'), 0)::bigint,
			(SELECT count(*) FROM windows WHERE second > now() AT TIME ZONE 'UTC' + interval '1 minute')
		FROM bad_samples`).Scan(&ahead, &others, &seconds)
	if err != nil || ahead != want || others != 0 || seconds != 0 {
		t.Errorf("%d samples are refused as ahead of the clock, %d otherwise, and %d seconds ahead are stored (%v); want %d, 0 and 0", ahead, others, seconds, err, want)
	}
}
