//go:build e2e

package e2e_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"testing"
	"time"
)

var reporterKills = flag.Int("faults.reporters", 0, "how many reporters TestKilledReporters kills; 0 leaves the test out")

// handOver is for how long nothing may be judged after the judge was killed. The goal is 2 s;
// the rest is for a machine that does other things too. A judge whose session did not end with
// it would be waited for until its lease expires, for 10 to 15 s.
const handOver = 10 * time.Second

// TestKilledReporters kills two reporters in turn, each time while a key is hot, and starts
// them again. At the end the receiver was told of each key that it is hot, and last that it is
// not any more, and each message that it got twice has the same id.
func TestKilledReporters(t *testing.T) {
	if *reporterKills == 0 {
		t.Skip("make faults runs it")
	}
	t.Parallel() // it mostly waits
	const topic = "reporters"
	pages := make(chan page, 10_000)
	receiver := httptest.NewServer(receivePages(pages))
	t.Cleanup(receiver.Close)
	w := newScenario(t, topic, fmt.Sprintf(`
policy: {for: 0s}
receivers:
  pager: {type: webhook, url: %q, limit: -1}
`, receiver.URL))
	config, err := os.ReadFile(w.reporter.config)
	if err != nil {
		t.Fatal(err)
	}
	other := newProcess(t, "reporter-1", "reporter serve", string(config))
	other.rewrite(t, w.reporter.address, other.address)
	other.start(t)
	w.startCollectors(t)
	for _, c := range w.collectors {
		c.ready(t)
	}
	judged := newProgress()
	(&network{scenario: w}).followJudge(t, judged)
	traffic := &liveTraffic{client: w.producer(t, topic), random: rand.New(rand.NewPCG(seed, 13))}
	traffic.run(t, 5*time.Second, "")
	judged.forget()
	for i := range *reporterKills {
		killed := []*process{w.reporter, other}[i%2]
		table := fmt.Sprint("orders-", i)
		traffic.run(t, time.Duration(1000+traffic.random.IntN(2000))*time.Millisecond, table)
		killed.kill(t)
		traffic.run(t, 3*time.Second, table)
		killed.start(t)
		traffic.run(t, time.Duration(5000+traffic.random.IntN(15_000))*time.Millisecond, "")
	}
	view := newView()
	within(t, 5*time.Minute, "the receiver was told that every key is hot no more", func() error {
		traffic.run(t, time.Second, "")
		view.take(t, pages)
		var open []error
		for i := range *reporterKills {
			if table := fmt.Sprint("orders-", i); view.last[table] != "resolved" || !view.fired[table] {
				open = append(open, fmt.Errorf("%s: fired %t, last %q", table, view.fired[table], view.last[table]))
			}
		}
		return errors.Join(open...)
	})
	t.Logf("%d kills, %d messages, %d of them again under their ids; nothing was judged for %s at most",
		*reporterKills, len(view.seen), view.repeated, rounded(judged.worst()))
	if judged.worst() > handOver {
		t.Errorf("want at most %s", handOver)
	}
}

// view is what a receiver knows that drops a message whose id it has seen.
type view struct {
	seen     map[string]bool
	fired    map[string]bool   // by table
	last     map[string]string // the last event, by table
	repeated int
}

func newView() *view {
	return &view{seen: map[string]bool{}, fired: map[string]bool{}, last: map[string]string{}}
}

// take takes the messages that have come. After the end of an incident, none may be of it.
func (v *view) take(t *testing.T, pages <-chan page) {
	t.Helper()
	for len(pages) > 0 {
		p := <-pages
		if v.seen[p.id] {
			v.repeated++
			continue
		}
		v.seen[p.id] = true
		if v.last[p.table] == "resolved" && p.table != "" {
			t.Errorf("%s: %q after it was resolved", p.table, p.event)
		}
		v.fired[p.table] = v.fired[p.table] || p.event == "firing"
		v.last[p.table] = p.event
	}
}
