//go:build e2e

package e2e_test

import (
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/link"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
)

var standbyBehind = flag.Duration("faults.behind", 0, "how far behind the standby is that takes over in TestLostPrimary; 0 leaves the test out")

// TestLostPrimary loses the primary of the database with kill -9, and a standby takes over
// that was cut off from it for some seconds: the daemons go on by the same address, on a
// database that has forgotten what they stored last. Nothing is lost or counted twice, a gap
// covers the time, and what was paged is not paged under another id: neither an incident
// that the standby knows, nor one that it does not.
func TestLostPrimary(t *testing.T) {
	if *standbyBehind == 0 {
		t.Skip("make faults runs it")
	}
	t.Parallel() // it mostly waits
	pages := make(chan page, 1000)
	receiver := httptest.NewServer(receivePages(pages))
	t.Cleanup(receiver.Close)
	f := newStandbyScenario(t, receiver.URL)
	l := layout{topic: "standby", perSecond: 2000}
	end := l.pour(t, f.kafka.Addr)
	for _, c := range f.collectors {
		c.ready(t)
	}
	f.traffic.run(t, 3*time.Second, "")
	known := f.page(t, "orders", pages)
	f.knows(t, known)

	f.replication.Cut()
	cut := time.Now()
	unknown := f.page(t, "payments", pages)
	f.traffic.run(t, time.Until(cut.Add(*standbyBehind)), "")
	lost := stateOf(t, f.database)
	must.Succeed(t, f.postgres.Kill())
	killed := time.Now()
	must.Succeed(t, f.standby.Promote(t.Context()))
	f.database = f.standbys
	kept := stateOf(t, f.database)
	f.toPostgres.Turn(f.standby.Host())
	if kept.requests >= lost.requests || kept.writes >= lost.writes || f.stores(t, unknown) {
		t.Fatalf("the standby is not behind: %+v, the primary had %+v", kept, lost)
	}
	f.traffic.run(t, 5*time.Second, "")
	within(t, time.Minute, "what the standby lacked is counted again", func() error {
		got, err := f.totals()
		if err == nil && got.requests < lost.requests {
			err = fmt.Errorf("%d samples of %d", got.requests, lost.requests)
		}
		return err
	})
	again := time.Since(killed)
	end()
	want := readTopic(t, f.kafka.Addr, l.topic)
	f.matchesTopic(t, want, 2*time.Minute)
	for _, found := range f.findings(t) {
		want.bounded(t, found)
	}
	f.oneGap(t, cut, killed)
	t.Logf("the standby lacked %d samples and %d writes of the judge, and had them again %s after the kill; %d samples counted once",
		lost.requests-kept.requests, lost.writes-kept.writes, again.Round(100*time.Millisecond), want.requests)
	f.pagedOnce(t, pages, known, unknown)
	f.judgesOn(t, kept)
}

// standbyScenario is a scenario whose daemons reach Postgres through a link, and a standby
// that reaches it through another one.
type standbyScenario struct {
	*scenario
	traffic                 *liveTraffic
	toPostgres, replication *link.Link
	standby                 *pgtest.Server
	standbys                *sql.DB // the standby's database
}

func newStandbyScenario(t *testing.T, receiver string) *standbyScenario {
	t.Helper()
	f := &standbyScenario{scenario: newScenario(t, "standby", fmt.Sprintf(`
policy: {for: 0s}
receivers:
  pager: {type: webhook, url: %q, limit: -1}
`, receiver))}
	f.traffic = &liveTraffic{client: f.producer(t, "standby"), random: rand.New(rand.NewPCG(seed, 7))}
	primary := f.postgres.URL("postgres")
	var through, from string
	f.toPostgres, through = pgtest.Through(t, primary)
	f.replication, from = pgtest.Through(t, primary)
	f.standby = pgtest.Standby(t, f.postgres, from)
	var err error
	if f.standbys, err = sql.Open("pgx", f.standby.URL("postgres")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.standbys.Close() })
	f.reporter.stop(t)
	for _, p := range append([]*process{f.reporter}, f.collectors...) {
		p.rewrite(t, primary, through)
		p.start(t)
	}
	f.reporter.ready(t)
	return f
}

// page makes a key of a table hot until its page is received, and returns its id.
func (f *standbyScenario) page(t *testing.T, table string, pages <-chan page) (id string) {
	t.Helper()
	f.traffic.next = time.Now().Truncate(latencySlot)
	f.traffic.runUntil(t, f.traffic.next.Add(latencyGiveUp), table, func() bool {
		select {
		case p := <-pages:
			if p.table == table && p.event == "firing" {
				id = p.id
			}
		default:
		}
		return id != ""
	})
	if id == "" {
		t.Fatalf("%s: no page in %s", table, latencyGiveUp)
	}
	return id
}

// knows waits until the standby has it that a page was delivered, which the second that it
// is about may be before it is over, and has counted something.
func (f *standbyScenario) knows(t *testing.T, id string) {
	t.Helper()
	within(t, time.Minute, "the standby knows of the page", func() error {
		var state string
		err := f.standbys.QueryRow(`SELECT state FROM notifications WHERE id = $1`, id).Scan(&state)
		if counted := stateOf(t, f.standbys).requests; err == nil && (state != "delivered" || counted == 0) {
			err = fmt.Errorf("it is %s, and %d samples are counted", state, counted)
		}
		return err
	})
}

// stores reports whether a notification is in the store.
func (f *standbyScenario) stores(t *testing.T, id string) (there bool) {
	t.Helper()
	must.Succeed(t, f.database.QueryRow(`SELECT EXISTS (SELECT FROM notifications WHERE id = $1)`, id).Scan(&there))
	return there
}

// state is how far a database has got: the samples counted, and the judge's own counters.
type state struct{ requests, token, writes int64 }

func stateOf(t *testing.T, database *sql.DB) (s state) {
	t.Helper()
	err := database.QueryRow(`SELECT token, writes, (SELECT coalesce(sum(requests), 0) FROM keyheat_totals)::bigint FROM leases WHERE name = 'judge'`).
		Scan(&s.token, &s.writes, &s.requests)
	must.Succeed(t, err)
	return s
}

// judgesOn expects that a judge has begun a new term since, writes in it, and reads what
// each collector has stored to its end.
func (f *standbyScenario) judgesOn(t *testing.T, since state) {
	t.Helper()
	// A cursor waits for what its deltas raised, such as an hour's highest second, to be
	// written, which is once a minute.
	within(t, 2*time.Minute, "the judge has read all there is", func() error {
		var unread int
		err := f.database.QueryRow(`
			SELECT count(*) FROM (SELECT writer, max(seq) AS seq FROM deltas GROUP BY writer) AS d
			LEFT JOIN cursors AS c ON c.writer = d.writer WHERE c.seq IS DISTINCT FROM d.seq`).Scan(&unread)
		if err == nil && unread > 0 {
			err = fmt.Errorf("of %d collectors something is unread", unread)
		}
		return err
	})
	now := stateOf(t, f.database)
	t.Logf("the lease was at %+v when the standby took over, and is at %+v", since, now)
	if now.token <= since.token || now.writes <= since.writes {
		t.Errorf("the lease is at %+v, and was at %+v when the standby took over", now, since)
	}
}

// oneGap expects that the only gap is one over what the standby lacked.
func (f *standbyScenario) oneGap(t *testing.T, cut, killed time.Time) {
	t.Helper()
	rows, err := f.database.Query(`SELECT source, reason, since, until FROM gaps`)
	must.Succeed(t, err)
	defer rows.Close()
	var found int
	for rows.Next() {
		var source, reason string
		var since, until time.Time
		must.Succeed(t, rows.Scan(&source, &reason, &since, &until))
		t.Logf("a gap of the source %s from %s before the link was cut to %s after the kill: %s",
			source, cut.Sub(since).Round(time.Millisecond), until.Sub(killed).Round(time.Millisecond), reason)
		if found++; source != "store" || since.After(cut.Add(time.Second)) || since.Before(cut.Add(-10*time.Second)) || until.Before(killed) {
			t.Errorf("want it of the source store, from %s to %s and a little more", cut, killed)
		}
	}
	if err := rows.Err(); err != nil || found != 1 {
		t.Errorf("%d gaps (%v), want 1", found, err)
	}
}

// pagedOnce expects, of what was received since the two pages, none of the incident that the
// standby knew, and of the other one only the same id, which receivers drop.
func (f *standbyScenario) pagedOnce(t *testing.T, pages <-chan page, known, unknown string) {
	t.Helper()
	within(t, time.Minute, "the incident that was lost is there again", func() error {
		var state string
		err := f.database.QueryRow(`SELECT state FROM notifications WHERE id = $1`, unknown).Scan(&state)
		if err == nil && state == "pending" {
			err = fmt.Errorf("it is %s", state)
		}
		return err
	})
	repeated := 0
	for len(pages) > 0 {
		switch p := <-pages; {
		case p.table == "payments" && p.id == unknown:
			repeated++
		case p.event == "firing" && (p.table == "orders" || p.table == "payments"):
			t.Errorf("a second page for %s, %s after %s and %s", p.table, p.id, known, unknown)
		default:
			t.Logf("also received: %s %q", p.event, p.table)
		}
	}
	t.Logf("the page that the standby did not know was delivered %d times more, under its id", repeated)
}
