//go:build e2e

package e2e_test

import (
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

var reporterKills = flag.Int("faults.reporters", 0, "how many reporters TestKilledReporters kills; 0 leaves the test out")

// handOver is how long the other reporter may take from the kill of the judge to its first
// judgement. The goal is 2 s; the rest is for a machine that runs other faults too. A judge
// whose session did not end with it would be waited for until its lease expires, for 10 to 15 s.
// A single kill, as in make smoke, is only measured: it may run beside anything.
const handOver = 10 * time.Second

// TestKilledReporters kills two reporters in turn, each time while a key is hot, and starts
// them again. At the end the receiver was told of each key that it is hot, and last that it is
// not any more, and each message that it got twice has the same id.
func TestKilledReporters(t *testing.T) {
	if *reporterKills == 0 {
		t.Skip("make faults runs it")
	}
	t.Parallel() // it mostly waits
	w := newReporters(t, "reporters")
	traffic := w.traffic
	for i := range *reporterKills {
		killed := w.reporters[i%2]
		table := fmt.Sprint("orders-", i)
		traffic.run(t, time.Duration(1000+traffic.random.IntN(2000))*time.Millisecond, table)
		w.kill(t, killed)
		traffic.run(t, 3*time.Second, table)
		killed.start(t)
		traffic.run(t, time.Duration(5000+traffic.random.IntN(15_000))*time.Millisecond, "")
	}
	known := newView()
	within(t, 5*time.Minute, "the receiver was told that every key is hot no more", func() error {
		traffic.run(t, time.Second, "")
		known.take(t, w.pages)
		var open []error
		for i := range *reporterKills {
			if table := fmt.Sprint("orders-", i); known.last[table] != "resolved" || known.fired[table] != 1 {
				open = append(open, fmt.Errorf("%s: fired %d times, last %q", table, known.fired[table], known.last[table]))
			}
		}
		return errors.Join(open...)
	})
	w.tookOver(t, known)
}

// reporters is a scenario of two reporters with a receiver, in which something was judged.
type reporters struct {
	*scenario
	reporters [2]*process
	pages     chan page
	traffic   *liveTraffic
	taking    sync.WaitGroup
	took      chan time.Duration // from each kill of the judge to the other's first judgement
}

func newReporters(t *testing.T, topic string) *reporters {
	t.Helper()
	w := &reporters{pages: make(chan page, 10_000), took: make(chan time.Duration, *reporterKills)}
	receiver := httptest.NewServer(receivePages(w.pages))
	t.Cleanup(receiver.Close)
	w.scenario = newScenario(t, topic, fmt.Sprintf(`
policy: {for: 0s}
receivers:
  pager: {type: webhook, url: %q, limit: -1}
`, receiver.URL))
	config, err := os.ReadFile(w.reporter.config)
	must.Succeed(t, err)
	other := newProcess(t, "reporter-1", "reporter serve", string(config))
	other.rewrite(t, w.reporter.address, other.address)
	other.start(t)
	w.reporters = [2]*process{w.reporter, other}
	w.startCollectors(t)
	for _, c := range w.collectors {
		c.ready(t)
	}
	w.traffic = w.scenario.traffic(t, topic, 13)
	w.traffic.run(t, 5*time.Second, "")
	return w
}

// kill kills the reporter that judges, and measures until the other has judged.
func (w *reporters) kill(t *testing.T, p *process) {
	t.Helper()
	token, _ := w.lease(t) // the other may have the lease as soon as this one is dead
	began := time.Now()
	p.kill(t)
	_, writes := w.lease(t)
	w.taking.Go(func() {
		var leased time.Duration
		for end := began.Add(await.Limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			now, written := w.lease(t)
			if now > token && leased == 0 {
				leased = time.Since(began)
			}
			if now > token && written > writes {
				took := time.Since(began)
				if took > handOver {
					t.Logf("a hand-over took %s, %s of it until the lease was taken", took, leased)
				}
				w.took <- took
				return
			}
		}
		t.Errorf("nothing was judged for %s after a kill", await.Limit)
	})
}

// lease returns the token of the judge's lease, and the number of judgements.
func (w *reporters) lease(t *testing.T) (token, writes int64) {
	t.Helper()
	if err := w.database.QueryRow(`SELECT token, writes FROM leases WHERE name = 'judge'`).Scan(&token, &writes); err != nil {
		t.Error(err)
	}
	return token, writes
}

// tookOver holds the judges to what a hand-over may take.
func (w *reporters) tookOver(t *testing.T, known *view) {
	t.Helper()
	w.taking.Wait()
	close(w.took)
	var all []time.Duration
	for took := range w.took {
		all = append(all, took)
	}
	took := quantilesOf(all, func(d time.Duration) time.Duration { return d })
	t.Logf("%d kills, %d messages, %d of them again under their ids; from a kill to the other's first judgement: %s",
		len(all), len(known.seen), known.repeated, took)
	if len(all) != *reporterKills || *reporterKills > 1 && took.most > handOver {
		t.Errorf("want %d, of at most %s", *reporterKills, handOver)
	}
}

// TestKilledReportersAsKeysJoin kills two reporters in turn while one key of a table is
// hot, then two keys that have all of its load, for more than a minute, and one again. The receiver is told of each incident in order. At the
// end its view is the database's: every firing was delivered, and the last message of each incident is the newest.
func TestKilledReportersAsKeysJoin(t *testing.T) {
	if *reporterKills == 0 {
		t.Skip("make faults runs it")
	}
	t.Parallel() // it mostly waits
	const topic = "causes"
	w := newReporters(t, topic)
	known := newView()
	loads := []struct {
		lasts time.Duration
		keys  []string // cool ones beside them unless these are two
	}{
		{12 * time.Second, []string{"a"}},
		{36 * time.Second, []string{"a", "b"}},
		{34 * time.Second, []string{"a", "b"}},
		{68 * time.Second, []string{"a"}},
	}
	for i := range *reporterKills {
		load, killed := loads[i%len(loads)], w.reporters[i%2]
		ends := time.Now().Add(load.lasts)
		w.traffic.load(t, 2*time.Second+w.traffic.upTo(load.lasts-10*time.Second), topic, load.keys...)
		w.kill(t, killed)
		w.traffic.load(t, 3*time.Second, topic, load.keys...)
		killed.start(t)
		w.traffic.load(t, time.Until(ends), topic, load.keys...)
		known.take(t, w.pages)
	}
	within(t, 5*time.Minute, "nothing fires, and all is delivered", func() error {
		w.traffic.run(t, time.Second, "")
		known.take(t, w.pages)
		var open int
		err := w.database.QueryRow(`
			SELECT (SELECT count(*) FROM incidents WHERE state <> 'resolved') + (SELECT count(*) FROM notifications WHERE state = 'pending')`).Scan(&open)
		if err == nil && open > 0 {
			err = fmt.Errorf("%d incidents and notifications are not over", open)
		}
		return err
	})
	known.take(t, w.pages)
	w.toldTruth(t, known)
	w.tookOver(t, known)
}

// toldTruth holds what the receiver knows to the database, in which all incidents are over.
func (w *reporters) toldTruth(t *testing.T, known *view) {
	t.Helper()
	rows, err := w.database.Query(`
		SELECT n.id, n.event, n.state, i.id, i.case_code, i.revision
		FROM notifications AS n JOIN incidents AS i ON i.id = n.incident ORDER BY n.ordinal`)
	must.Succeed(t, err)
	defer rows.Close()
	cases, newest := map[string]int{}, map[string]string{}
	for rows.Next() {
		var id, event, state string
		var of told
		must.Succeed(t, rows.Scan(&id, &event, &state, &of.ID, &of.Case, &of.Revision))
		if event == "firing" && state != "delivered" {
			t.Errorf("a firing of %s is %s", of.Case, state)
		}
		if state != "delivered" {
			continue
		}
		newest[of.ID] = id
		message, received := known.seen[id]
		if !received {
			t.Errorf("the receiver lacks %s of %s, which is delivered", event, of.Case)
		}
		cases[message.incident.Case]++
		if last := known.incidents[of.ID]; last.incident.Revision > of.Revision {
			t.Errorf("%s was told at revision %d, and is stored at %d", of.Case, last.incident.Revision, of.Revision)
		}
	}
	must.Succeed(t, rows.Err())
	for id, last := range known.incidents {
		if last.event != "resolved" || newest[id] != last.id {
			t.Errorf("of %s the receiver was last told %q by %s, and the last delivered is %s", last.incident.Case, last.event, last.id, newest[id])
		}
	}
	t.Logf("messages by the case that they name: %v", cases)
	var keys int
	err = w.database.QueryRow(`SELECT max(n) FROM (SELECT count(*) AS n FROM incident_findings GROUP BY incident) AS of_each`).Scan(&keys)
	if err != nil || keys < 2 {
		t.Errorf("the largest incident is of %d keys (%v), want both", keys, err)
	}
}

// load writes 1,200 write units a second on each key of a table, and some on fifty cool ones
// unless there are two keys.
func (l *liveTraffic) load(t *testing.T, lasts time.Duration, table string, keys ...string) {
	t.Helper()
	l.next = time.Now().Truncate(latencySlot)
	for end := l.next.Add(lasts); l.next.Before(end); l.next = l.next.Add(latencySlot) {
		time.Sleep(time.Until(l.next.Add(latencySlot)))
		l.body = l.body[:0]
		for _, key := range keys {
			l.add(table, key, 12)
		}
		cool := 5
		if len(keys) > 1 {
			cool = 0
		}
		for range cool {
			l.add(table, fmt.Sprintf("cool %x", l.random.IntN(50)*7919), 1)
		}
		l.produce(t, l.random.Int32N(partitions))
	}
}

// upTo returns a random time.
func (l *liveTraffic) upTo(d time.Duration) time.Duration {
	return time.Duration(l.random.Int64N(int64(d)))
}

// view is what a receiver knows that drops a message whose id it has seen.
type view struct {
	seen      map[string]page
	incidents map[string]page   // the last message of each
	fired     map[string]int    // by table
	last      map[string]string // the last event, by table
	repeated  int
}

func newView() *view {
	return &view{seen: map[string]page{}, incidents: map[string]page{}, fired: map[string]int{}, last: map[string]string{}}
}

// take takes the messages that have come. A repetition within a minute has the same body.
// Revisions rise. An incident that fires does not begin, and one that does not fire does not
// end.
func (v *view) take(t *testing.T, pages <-chan page) {
	t.Helper()
	for len(pages) > 0 {
		p := <-pages
		if first, known := v.seen[p.id]; known {
			v.repeated++
			if p.at.Sub(first.at) < time.Minute && p.body != first.body {
				t.Errorf("%s: the repetition of %q differs:\n%s\n%s", p.table, p.event, first.body, p.body)
			}
			continue
		}
		v.seen[p.id] = p
		before := v.incidents[p.incident.ID]
		fires := before.event != "" && before.event != "resolved"
		if p.incident.Revision <= before.incident.Revision || p.event == "firing" && fires || p.event == "resolved" && !fires {
			t.Errorf("%s: %q at revision %d follows on %q at revision %d", p.table, p.event, p.incident.Revision, before.event, before.incident.Revision)
		}
		v.incidents[p.incident.ID] = p
		if p.event == "firing" {
			v.fired[p.table]++
		}
		v.last[p.table] = p.event
	}
}
