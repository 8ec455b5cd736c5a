//go:build e2e

package e2e_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

var (
	crashes       = flag.Int("faults.crashes", 6, "how often TestKilledCollectors kills a collector")
	databaseKills = flag.Int("faults.databases", 2, "how often TestKilledPostgres kills the database")
	faultsRate    = flag.Int("faults.rate", 5000, "how many samples a second these tests write")
)

// TestKilledCollectors kills one of the collectors every eight seconds or so, each time
// while there is something unread.
func TestKilledCollectors(t *testing.T) {
	t.Parallel() // it mostly waits
	l := layout{topic: "faults", perSecond: *faultsRate}
	w := newScenario(t, l.topic)
	began := time.Now()
	end := l.pour(t, w.kafka.Addr)
	w.startCollectors(t)
	watch := w.watchFindings(t)
	random := rand.New(rand.NewPCG(seed, 3))
	for i := range *crashes {
		time.Sleep(time.Duration(4000+random.IntN(4500)) * time.Millisecond)
		w.lagging(t, l.topic)
		c := w.collectors[i%2]
		c.kill(t)
		time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
		c.start(t)
	}
	end()
	lasted := time.Since(began)
	want := readTopic(t, w.kafka.Addr, l.topic)
	w.matchesTopic(t, want, 2*time.Minute)
	findings := w.findings(t)
	for _, f := range findings {
		want.bounded(t, f)
	}
	if len(findings) == 0 {
		t.Error("no finding: the trace has hot keys at this rate")
	}
	t.Logf("%d kills in %s, %d samples counted once; %s", *crashes, lasted.Round(time.Second), want.requests, watch(want))
}

// TestKilledPostgres kills the database again and again under load.
func TestKilledPostgres(t *testing.T) {
	t.Parallel() // it mostly waits
	kills := *databaseKills
	l := layout{topic: "database", perSecond: *faultsRate}
	w := newScenario(t, l.topic)
	end := l.pour(t, w.kafka.Addr)
	g := newGroup(t, w, l.topic)
	w.startCollectors(t)
	g.members(t)
	g.moves(t, g.offsets(t))
	before := w.generation(t, l.topic)
	for range kills {
		w.lagging(t, l.topic)
		must.Succeed(t, w.postgres.Kill())
		time.Sleep(5 * time.Second)
		must.Succeed(t, w.postgres.Start(t.Context()))
		time.Sleep(8 * time.Second)
	}
	end()
	want := readTopic(t, w.kafka.Addr, l.topic)
	w.matchesTopic(t, want, 2*time.Minute)
	if after := w.generation(t, l.topic); after-before > kills {
		t.Errorf("%d group generations in %d kills of the database", after-before, kills)
	} else {
		t.Logf("%d kills, %d samples counted once, %d new group generations", kills, want.requests, after-before)
	}
}

// lagging waits until the topic holds messages beyond the stored positions.
func (w *scenario) lagging(t *testing.T, topic string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(w.kafka.Addr))
	must.Succeed(t, err)
	defer client.Close()
	within(t, await.Limit, "there is lag", func() error {
		ends, err := kadm.NewClient(client).ListEndOffsets(t.Context(), topic)
		if err != nil {
			return err
		}
		var written, read int64
		ends.Each(func(o kadm.ListedOffset) { written += o.Offset })
		if err := w.database.QueryRow(`SELECT coalesce(sum(next_offset::bigint), 0)::bigint FROM positions`).Scan(&read); err != nil {
			return err
		}
		if written <= read {
			return fmt.Errorf("all %d messages are counted", written)
		}
		return nil
	})
}

// generation reads a group's latest generation from where Kafka itself keeps
// it: the topic of group metadata.
func (w *scenario) generation(t *testing.T, group string) (latest int) {
	t.Helper()
	const topic = "__consumer_offsets"
	client, err := kgo.NewClient(kgo.SeedBrokers(w.kafka.Addr), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	must.Succeed(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			latest = max(latest, generationIn(r, group))
		})
	}
	if latest == 0 {
		t.Fatal("the group has no generation")
	}
	return latest
}

// generationIn reads a record of a group's metadata: its key is version 2 and the
// group; its value begins with version, protocol type and generation.
func generationIn(r *kgo.Record, group string) int {
	if len(r.Key) < 4 || binary.BigEndian.Uint16(r.Key) != 2 || string(r.Key[4:]) != group || len(r.Value) < 4 {
		return 0
	}
	skip := 4 + int(binary.BigEndian.Uint16(r.Value[2:]))
	if len(r.Value) < skip+4 {
		return 0
	}
	return int(int32(binary.BigEndian.Uint32(r.Value[skip:])))
}

// watchFindings notes when each finding is first seen in the API; it returns
// a sentence about how long that took after the key's first second over the limit.
func (w *scenario) watchFindings(t *testing.T) func(*truth) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	seen := map[string]time.Time{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			w.note(seen)
			time.Sleep(200 * time.Millisecond)
		}
	}()
	return func(s *truth) string {
		stop()
		<-done
		var delays []time.Duration
		for key, at := range seen {
			first := int64(0)
			for second, units := range s.perSecond[key] {
				if units > 1000 && (first == 0 || second < first) {
					first = second
				}
			}
			if first != 0 {
				delays = append(delays, at.Sub(time.Unix(first+1, 0)))
			}
		}
		return summary(delays)
	}
}

// note records when the API first returned a key over the limit.
func (w *scenario) note(seen map[string]time.Time) {
	body, err := w.reporter.get("/api/v1/findings?severity=critical")
	if err != nil {
		return // a reporter without its database responds later
	}
	var answer struct{ Findings []found }
	if json.Unmarshal(body, &answer) != nil {
		return
	}
	for _, f := range answer.Findings {
		if _, known := seen[f.Key]; !known && f.OverSeconds > 0 {
			seen[f.Key] = time.Now()
		}
	}
}

func summary(delays []time.Duration) string {
	if len(delays) == 0 {
		return "no key over the limit was found while it ran"
	}
	slices.Sort(delays)
	return fmt.Sprintf("from a key's first second over the limit to the stored finding: median %s, at most %s, of %d keys",
		delays[len(delays)/2].Round(100*time.Millisecond), delays[len(delays)-1].Round(100*time.Millisecond), len(delays))
}
