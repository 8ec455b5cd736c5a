//go:build e2e

package e2e_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// origin is a scenario that counts what it produces itself: the topic of the end
// does not hold what a test deletes.
type origin struct {
	*scenario
	topic string
	group string // of the collectors
	next  int    // the next sample's number
	want  int64  // samples that have to be counted, each once
	gaps  map[logGap]bool
}

var rounds = flag.Int("faults.rounds", 1, "how often TestFaultsOfTheLog runs each fault")

// TestFaultsOfTheLog runs one fault after another on one topic, with collectors that
// run or are stopped. Everything that was read counts once; what was not is a gap.
func TestFaultsOfTheLog(t *testing.T) {
	t.Parallel() // it mostly waits
	const topic = "origin"
	o := &origin{scenario: newScenarioOn(t, kafkatest.Start(t), topic), topic: topic, group: topic, gaps: map[logGap]bool{}}
	o.produce(t, 3000)
	o.startCollectors(t)
	o.counted(t)
	for range *rounds {
		o.round(t)
	}
}

// round runs every fault once. They are no subtests: the server that one leaves is the
// next one's.
func (o *origin) round(t *testing.T) {
	for _, fault := range []struct {
		name, gap string
		inject    func(*testing.T)
	}{
		{"a topic made anew and larger, under running collectors", "created again", o.recreateRunning},
		{"a topic made anew and larger, under stopped collectors", "created again", o.recreateStopped},
		{"a renamed group", "", o.renameGroup},
		{"a second group", "", o.secondGroup},
		{"retention ahead of stopped collectors", "its retention removed records", o.retentionStopped},
		{"retention ahead of running collectors", "its retention removed records", o.retentionRunning},
		{"a log that is cut and filled again", "was cut", o.cutLog},
		{"a database that goes back", "set back to an earlier state", o.databaseBack},
		{"a new cluster under the old names", "another cluster", o.newCluster},
	} {
		t.Logf("%s:", fault.name)
		began := time.Now()
		fault.inject(t)
		o.counted(t)
		o.toldBy(t, fault.gap)
		if t.Failed() {
			t.FailNow()
		}
		t.Logf("%s: %d samples counted once, %s", fault.name, o.want, time.Since(began).Round(time.Second))
	}
}

// produce sends samples of one request, all acknowledged, in messages of their own.
func (o *origin) produce(t *testing.T, n int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(o.kafka.Addr), kgo.DefaultProduceTopic(o.topic), kgo.ProducerLinger(time.Millisecond))
	must.Succeed(t, err)
	defer client.Close()
	now := time.Now()
	var records []*kgo.Record
	for range n {
		records = append(records, &kgo.Record{Key: fmt.Append(nil, o.next), Timestamp: now, Value: fmt.Appendf(nil,
			`{"ts":%d,"table":"orm","pk":"k%d","op":"UpdateItem","wcu":1}`, now.UnixMilli(), o.next%100)})
		o.next++
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must.Succeed(t, client.ProduceSync(ctx, records...).FirstErr())
	o.want += int64(n)
}

// counted waits until all are counted, and looks that it stays so.
func (o *origin) counted(t *testing.T) {
	t.Helper()
	check := func() error {
		got, err := o.totals()
		if err == nil && got.requests != o.want {
			err = fmt.Errorf("%d samples are counted, want %d", got.requests, o.want)
		}
		return err
	}
	within(t, time.Minute, "every sample is counted", check)
	time.Sleep(3 * time.Second)
	if err := check(); err != nil {
		t.Errorf("after a while: %v", err)
	}
}

// logGap is a gap as it is stored. Only those of a log are from an offset to another.
type logGap struct{ source, name, from, to, reason string }

func (g logGap) String() string {
	return fmt.Sprintf("%s/%s %s to %s: %s", g.source, g.name, g.from, g.to, g.reason)
}

// newGaps returns the gaps that were not there before this fault.
func (o *origin) newGaps() (found []logGap, err error) {
	rows, err := o.database.Query(`SELECT source, name, from_pos, to_pos, reason FROM gaps`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var gap logGap
		if err := rows.Scan(&gap.source, &gap.name, &gap.from, &gap.to, &gap.reason); err != nil {
			return nil, err
		}
		if !o.gaps[gap] {
			found = append(found, gap)
		}
	}
	return found, rows.Err()
}

// toldBy expects gaps since the last fault, all of them for this reason.
func (o *origin) toldBy(t *testing.T, reason string) {
	t.Helper()
	found, err := o.newGaps()
	must.Succeed(t, err)
	for _, gap := range found {
		o.gaps[gap] = true
		if reason == "" || !strings.Contains(gap.reason, reason) {
			t.Errorf("a gap that was not expected: %s", gap)
		}
	}
	if reason != "" && len(found) == 0 {
		t.Errorf("no gap says %q", reason)
	}
	if len(found) > 0 {
		t.Logf("%d gaps, such as %s", len(found), found[0])
	}
}

// admin returns a client for the server that the topic is on now.
func (o *origin) admin(t *testing.T) *kadm.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(o.kafka.Addr))
	must.Succeed(t, err)
	t.Cleanup(client.Close)
	return kadm.NewClient(client)
}

func (o *origin) stopCollectors(t *testing.T) {
	t.Helper()
	for _, c := range o.collectors {
		c.stop(t)
	}
}

// recreate deletes the topic and makes it again, and refills it at once with more
// than it held.
func (o *origin) recreate(t *testing.T, refill int) {
	t.Helper()
	admin := o.admin(t)
	if _, err := admin.DeleteTopic(t.Context(), o.topic); err != nil {
		t.Fatal(err)
	}
	within(t, 2*time.Minute, "the topic is made again", func() error {
		_, err := admin.CreateTopic(t.Context(), partitions, 1, nil, o.topic)
		return err
	})
	o.produce(t, refill)
}

func (o *origin) recreateRunning(t *testing.T) {
	o.recreate(t, 6000)
}

func (o *origin) recreateStopped(t *testing.T) {
	o.stopCollectors(t)
	o.recreate(t, 9000)
	o.startCollectors(t)
}

// rewrite changes a daemon's configuration, for when it is started next.
func (p *process) rewrite(t *testing.T, from, to string) {
	t.Helper()
	config, err := os.ReadFile(p.config)
	if err == nil {
		err = os.WriteFile(p.config, []byte(strings.ReplaceAll(string(config), from, to)), 0o600)
	}
	must.Succeed(t, err)
}

// groupSetting is a group's name as collectors' configurations have it.
func groupSetting(name string) string { return fmt.Sprintf("group: %q", name) }

func (o *origin) renameGroup(t *testing.T) {
	o.stopCollectors(t)
	o.produce(t, 500)
	before := o.group
	o.group = fmt.Sprint("renamed-", o.next)
	for _, c := range o.collectors {
		c.rewrite(t, groupSetting(before), groupSetting(o.group))
	}
	o.startCollectors(t)
	o.produce(t, 500)
}

func (o *origin) secondGroup(t *testing.T) {
	config, err := os.ReadFile(o.collectors[0].config)
	must.Succeed(t, err)
	text := strings.ReplaceAll(string(config), o.collectors[0].address, "%listen%")
	second := newProcess(t, "second", "collector run", strings.ReplaceAll(text, groupSetting(o.group), groupSetting("second")))
	second.start(t)
	within(t, time.Minute, "the second group is refused by name", func() error {
		_, err := second.get("/-/ready")
		if err == nil {
			return errors.New("it is ready")
		}
		if !strings.Contains(err.Error(), fmt.Sprintf(`read by the group \"%s\"`, o.group)) {
			return err
		}
		return nil
	})
	o.produce(t, 500)
	o.counted(t)
	second.stop(t)
}

// retentionStopped has the broker remove the older half of what stopped collectors have not
// read, and expects gaps of just these offsets.
func (o *origin) retentionStopped(t *testing.T) {
	o.counted(t)
	o.stopCollectors(t)
	read := o.ends(t)
	o.produce(t, 4000)
	starts := o.removeHalf(t, read)
	o.startCollectors(t)
	o.produce(t, 500)
	o.lost(t, read, read, starts)
}

// retentionRunning is the same of collectors that are frozen for a moment and keep their
// places in the group. What answers the fetches that they have sent may be removed before
// they read the answers, and counts; all else that was removed is a gap.
func (o *origin) retentionRunning(t *testing.T) {
	o.counted(t)
	for _, c := range o.collectors {
		c.signal(t, syscall.SIGSTOP)
	}
	read := o.ends(t)
	o.produce(t, 500)
	fetched := o.ends(t)
	o.produce(t, 4000)
	starts := o.removeHalf(t, fetched)
	for _, c := range o.collectors {
		c.signal(t, syscall.SIGCONT)
	}
	o.produce(t, 500)
	o.lost(t, read, fetched, starts)
}

// ends returns the end of each partition.
func (o *origin) ends(t *testing.T) (ends map[int32]int64) {
	t.Helper()
	all, err := o.admin(t).ListEndOffsets(t.Context(), o.topic)
	if err = errors.Join(err, all.Error()); err != nil {
		t.Fatal(err)
	}
	ends = map[int32]int64{}
	all.Each(func(end kadm.ListedOffset) { ends[end.Partition] = end.Offset })
	return ends
}

// removeHalf has the broker remove the older half of what was produced from some offsets
// on, and returns where the partitions then start.
func (o *origin) removeHalf(t *testing.T, from map[int32]int64) (starts map[int32]int64) {
	t.Helper()
	starts = map[int32]int64{}
	var before kadm.Offsets
	for partition, end := range o.ends(t) {
		starts[partition] = (from[partition] + end) / 2
		before.AddOffset(o.topic, partition, starts[partition], -1)
	}
	removed, err := o.admin(t).DeleteRecords(t.Context(), before)
	if err = errors.Join(err, removed.Error()); err != nil {
		t.Fatal(err)
	}
	return starts
}

// lost expects a gap for each partition, which begins at one of some offsets and ends where
// the partition now starts, and no longer expects that what is in it is counted.
func (o *origin) lost(t *testing.T, earliest, latest, starts map[int32]int64) {
	t.Helper()
	var found []logGap
	within(t, time.Minute, "there is a gap for each partition", func() (err error) {
		if found, err = o.newGaps(); err == nil && len(found) < len(starts) {
			err = fmt.Errorf("there are %d: %v", len(found), found)
		}
		return err
	})
	of := map[int32]bool{}
	for _, gap := range found {
		var p int32
		var from, to int64
		_, err := fmt.Sscanf(gap.name+" "+gap.from+" "+gap.to, o.topic+"/%d %d %d", &p, &from, &to)
		if err != nil || of[p] || from < earliest[p] || from > latest[p] || to != starts[p] {
			t.Errorf("a gap is %s, of a partition that was read up to %d or %d and now starts at %d", gap, earliest[p], latest[p], starts[p])
		}
		of[p] = true
		o.want -= to - from
	}
}

// cutLog kills the broker, cuts a tail off the partitions' files, as a loss of power
// does, and starts it again; what is produced then takes the offsets of what was cut.
func (o *origin) cutLog(t *testing.T) {
	o.counted(t)
	o.kafka.Kill(t)
	files, err := filepath.Glob(filepath.Join(o.kafka.Data(), o.topic+"-*", "*.log"))
	if err != nil || len(files) < partitions {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err == nil {
			err = os.Truncate(file, info.Size()*9/10)
		}
		must.Succeed(t, err)
	}
	o.kafka.Restart(t)
	o.produce(t, 8000)
}

// databaseBack sets Postgres back under the running daemons, to before some samples
// were counted.
func (o *origin) databaseBack(t *testing.T) {
	must.Succeed(t, o.postgres.Save(t.Context()))
	o.produce(t, 4000)
	o.counted(t)
	must.Succeed(t, o.postgres.Restore(t.Context()))
}

// newCluster starts the collectors on another cluster that has the topic.
func (o *origin) newCluster(t *testing.T) {
	o.stopCollectors(t)
	before := o.kafka.Addr
	o.kafka.Kill(t)
	o.kafka = kafkatest.Start(t)
	o.kafka.CreateTopic(t, o.topic, partitions)
	o.produce(t, 20_000)
	for _, c := range o.collectors {
		c.rewrite(t, before, o.kafka.Addr)
	}
	o.startCollectors(t)
}
