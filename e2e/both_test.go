//go:build e2e

package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
)

// TestKafkaAndStreamsTogether has two collectors read a topic and the stream of another
// table, each in one process, and kills one while it reads: both sources are counted once
// and to findings of their own.
func TestKafkaAndStreamsTogether(t *testing.T) {
	t.Parallel() // it mostly waits
	fake := streamstest.New(streamstest.Options{Seed: seed, Shards: 2, Lag: 500 * time.Millisecond, EmptyPages: 0.1, Throttles: 0.02, PageRecords: 100})
	table := fake.CreateTable(streamed)
	table.EnableStream(streamstest.NewAndOldImages)
	endpoint := serve(t, fake)
	l := layout{topic: "together", perSecond: 100_000, limit: 200_000}
	w := newScenario(t, l.topic)
	w.addCollectors(t, l.topic, []string{w.kafka.Addr}, w.postgres.URL("postgres"), `
streams: {tables: [orders], consumer: e2e}
commit: {interval: 500ms}
`)
	for _, c := range w.collectors {
		c.env = []string{
			"AWS_ENDPOINT_URL=" + endpoint, "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=" + c.name,
			"AWS_SECRET_ACCESS_KEY=secret", "AWS_EC2_METADATA_DISABLED=true",
		}
	}
	write := func(n int, hot bool) {
		t.Helper()
		for i := range n {
			item := orderItem(fmt.Sprint("user#", i%40), fmt.Sprint(i), []string{"", "paid", "sent"}[i%3], 3000)
			if hot {
				item = orderItem("user#hot", fmt.Sprint(i), "open", 100_000)
			}
			must.Succeed(t, table.Put(item))
		}
	}
	write(500, false)
	l.produce(t, w.kafka.Addr, time.Now().Add(-time.Minute).Truncate(time.Second))
	w.startCollectors(t)
	w.reading(t, fake, w.collectors[0].name)
	w.collectors[0].kill(t)
	write(500, false)
	write(60, true) // of 100 units each: within a second or two, also on a busy machine
	w.collectors[0].start(t)

	topic, changes := readTopic(t, w.kafka.Addr, l.topic), newOracle(table, nil)
	w.matches(t, changes, await.Limit)
	within(t, await.Limit, "the topic is counted, too", func() error {
		all, err := w.totals()
		for _, of := range changes.accounts {
			all.requests -= of.requests
			all.units -= of.units
		}
		if want := (totals{topic.requests, topic.units}); err == nil && all != want {
			err = fmt.Errorf("stored %+v beside the stream's, the topic holds %+v", all, want)
		}
		return err
	})
	w.finding(t, "key_writes", "", "user#hot", changes.hotAs("", "user#hot"))
	of := w.findings(t)
	topics := 0
	for _, f := range of {
		if f.Subject == "key_writes" && f.Table != "orders" {
			topics++
		}
	}
	if topics == 0 {
		t.Errorf("no finding of the topic's among %+v", of)
	}
	for _, c := range w.collectors {
		c.ready(t)
		c.stop(t)
	}
}
