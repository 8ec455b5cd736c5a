//go:build e2e

package e2e_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/link"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
)

var cutFor = flag.Duration("faults.cut", 12*time.Second, "for how long TestCutNetwork cuts each link")

// takeover is for how long a partition may stay uncounted that another collector takes over:
// the session timeout, and time to claim and commit on a machine that does other things too.
// lease is the same for the judge.
const takeover, lease = 25 * time.Second, 35 * time.Second

// TestCutNetwork cuts one collector, and then the judge, off from Kafka, from Postgres, and
// from both, while the others reach them: connections stay half open, and what was on its
// way arrives half a minute later. Nothing is lost or counted twice, and it is measured for
// how long a partition was not counted.
func TestCutNetwork(t *testing.T) {
	t.Parallel() // it mostly waits
	l := layout{topic: "network", perSecond: 2000}
	n := newNetwork(t, l.topic)
	began := time.Now()
	end := l.pour(t, n.kafka.Addr)
	n.startCollectors(t)
	counted := newProgress()
	n.follow(t, counted)
	judged := newProgress()
	n.followJudge(t, judged)
	for _, c := range []struct {
		name string
		cut  []*link.Link
		// counted and judged are for how long a partition may stay uncounted, and all unjudged.
		counted, judged time.Duration
	}{
		{"a collector from Kafka", []*link.Link{n.toKafka}, takeover, takeover + lease},
		// It keeps its place in the group, which knows nothing of the store.
		{"a collector from Postgres", []*link.Link{n.toPostgres}, *cutFor + takeover, *cutFor + takeover + lease},
		{"a collector from both", []*link.Link{n.toKafka, n.toPostgres}, takeover, takeover + lease},
		{"the judge from Postgres", []*link.Link{n.judges}, takeover, lease},
	} {
		n.settled(t, counted, judged)
		counted.forget()
		judged.forget()
		for _, way := range c.cut {
			way.Cut()
		}
		time.Sleep(*cutFor)
		for _, way := range c.cut {
			way.Heal()
		}
		n.settled(t, counted, judged)
		t.Logf("%-28s a partition was not counted for %s, nothing was judged for %s, at most", c.name+":", rounded(counted.worst()), rounded(judged.worst()))
		if counted.worst() > c.counted || judged.worst() > c.judged {
			t.Errorf("want at most %s and %s", c.counted, c.judged)
		}
	}
	end()
	want := readTopic(t, n.kafka.Addr, l.topic)
	n.matchesTopic(t, want, 2*time.Minute)
	for _, f := range n.findings(t) {
		want.bounded(t, f)
	}
	n.noGaps(t)
	t.Logf("%d samples counted once in %s", want.requests, time.Since(began).Round(time.Second))
}

// network is a scenario of which the first collector and the first of two reporters, the one
// that judges at first, reach the servers through links.
type network struct {
	*scenario
	toKafka, toPostgres, judges *link.Link
	group                       group
}

func newNetwork(t *testing.T, topic string) *network {
	server := kafkatest.Start(t)
	n := &network{toKafka: server.Through(t)}
	n.scenario = newScenarioOn(t, server, topic)
	direct := n.postgres.URL("postgres")
	var through string
	n.toPostgres, through = pgtest.Through(t, direct)
	n.collectors[0].rewrite(t, direct, through)
	n.collectors[0].rewrite(t, n.kafka.Addr, n.toKafka.Addr)
	n.judges, through = pgtest.Through(t, direct)
	n.reporter.stop(t)
	first := newProcess(t, "judge", "reporter serve", fmt.Sprintf("store: {url: %q}\nlisten: \"%%listen%%\"\n", through))
	first.start(t)
	within(t, time.Minute, "the first reporter judges", func() error {
		var holders int
		err := n.database.QueryRow(`SELECT count(*) FROM leases WHERE name = 'judge' AND expires > now() AT TIME ZONE 'UTC'`).Scan(&holders)
		if err == nil && holders == 0 {
			err = errors.New("nobody does")
		}
		return err
	})
	n.reporter.start(t)
	n.reporter.ready(t)
	n.group = newGroup(t, n.scenario, topic)
	return n
}

// followJudge records, as the partition 0, up to which second of event time is judged.
func (n *network) followJudge(t *testing.T, into *progress) {
	ctx, cancel := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	reading.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			var newest sql.NullInt64
			err := n.database.QueryRowContext(ctx, `SELECT extract(epoch FROM max(second))::bigint FROM windows`).Scan(&newest)
			if err != nil && ctx.Err() == nil {
				t.Errorf("the newest second: %v", err)
			}
			into.reached(0, newest.Int64, time.Now())
			<-tick.C
		}
	})
	t.Cleanup(func() { cancel(); reading.Wait() })
}

// settled waits until the group is whole, and every partition is read and judged.
func (n *network) settled(t *testing.T, counted, judged *progress) {
	t.Helper()
	n.group.members(t)
	after := time.Now().Add(3 * time.Second)
	within(t, 2*time.Minute, "every partition is counted and judged", func() error {
		if silent := counted.since(after); len(silent) > 0 {
			return fmt.Errorf("partitions %v are not", silent)
		}
		judged.mu.Lock()
		defer judged.mu.Unlock()
		if !judged.moved[0].After(after) {
			return errors.New("nothing is judged")
		}
		return nil
	})
}
