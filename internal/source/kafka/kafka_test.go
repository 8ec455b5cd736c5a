package kafka_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/kafka"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/port"
	"github.com/keyheat/keyheat/internal/testsupport/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const topic = "samples"

var quiet = slog.New(slog.DiscardHandler)

// cluster starts a fake Kafka with the topic in it.
func cluster(t *testing.T, partitions int32, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(100 * time.Millisecond),
		kfake.SeedTopics(partitions, topic),
	}, opts...)...)
	must.Succeed(t, err)
	t.Cleanup(c.Close)
	return c
}

// config is quick, so that tests are, but for the session: a machine that pauses is no
// lost member.
func config(brokers []string) kafka.Config {
	return kafka.Config{
		Brokers: brokers, Topics: []string{topic}, Group: "collectors",
		SessionTimeout: 20 * time.Second, HeartbeatInterval: 50 * time.Millisecond,
		RebalanceTimeout: 5 * time.Second, JoinBackoff: 50 * time.Millisecond,
		PartitionWatch: 100 * time.Millisecond, RequestTimeout: 5 * time.Second,
		MaxWait: 20 * time.Millisecond, ReleaseTimeout: 2 * time.Second, CommitInterval: 40 * time.Millisecond,
	}
}

// run starts a source; stop ends it and waits for it. It is stopped at the
// test's end in any case.
func run(t *testing.T, cfg kafka.Config, sink source.Sink) (k *kafka.Source, stop func()) {
	t.Helper()
	k = kafka.New(cfg, quiet)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx, sink) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("run: %v", err)
			}
		case <-time.After(await.Limit):
			t.Errorf("run did not end in %s", await.Limit)
		}
	}
	t.Cleanup(stop)
	return k, stop
}

func producer(t *testing.T, brokers []string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	p, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(brokers...), kgo.DefaultProduceTopic(topic),
		kgo.RecordPartitioner(kgo.RoundRobinPartitioner()),
	}, opts...)...)
	must.Succeed(t, err)
	t.Cleanup(p.Close)
	return p
}

// soon is a context for one step of a test, so that a step that hangs fails
// under its own name.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	t.Cleanup(cancel)
	return ctx
}

// produce writes the values from..to-1, each its own number.
func produce(t *testing.T, p *kgo.Client, from, to int) {
	t.Helper()
	var records []*kgo.Record
	for i := from; i < to; i++ {
		records = append(records, &kgo.Record{Value: fmt.Append(nil, i)})
	}
	must.Succeed(t, p.ProduceSync(soon(t), records...).FirstErr())
}

func TestKafkaReadsAllAndResumesAtTheStoredPosition(t *testing.T) {
	t.Parallel()
	c := cluster(t, 3)
	p := producer(t, c.ListenAddrs())
	l := sinktest.New()
	produce(t, p, 0, 500)
	k, stop := run(t, config(c.ListenAddrs()), l)
	l.Expect(t, 500)
	sinktest.Eventually(t, "ready", func() bool { return len(k.Ready()) == 0 })
	stop()
	if reasons := k.Ready(); len(reasons) == 0 {
		t.Error("ready after it stopped")
	}
	produce(t, p, 500, 800)
	run(t, config(c.ListenAddrs()), l)
	l.Expect(t, 800)
}

func TestKafkaReleasesEveryPartitionWhenStopped(t *testing.T) {
	t.Parallel()
	c := cluster(t, 4)
	produce(t, producer(t, c.ListenAddrs()), 0, 100)
	l := sinktest.New()
	_, stop := run(t, config(c.ListenAddrs()), l)
	l.Expect(t, 100)
	stop()
	l.With(func() {
		for name, e := range l.Entries {
			if e.Released != 1 {
				t.Errorf("%s released %d times, want once", name, e.Released)
			}
		}
	})
	info, err := c.WaitGroupInfo(soon(t), "collectors", func(g *kfake.GroupInfo) bool { return g == nil || len(g.Members) == 0 })
	if err != nil {
		t.Errorf("the member stayed in the group: %v, %v", info, err)
	}
}

func TestKafkaStopsWhileTheGroupHangs(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	joining := make(chan struct{}, 100)
	c.ControlKey(int16(kmsg.JoinGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		joining <- struct{}{}
		return nil, nil, true // never answered
	})
	cfg := config(c.ListenAddrs())
	cfg.RebalanceTimeout, cfg.ReleaseTimeout = 2*await.Limit, 100*time.Millisecond
	_, stop := run(t, cfg, sinktest.New())
	<-joining
	stop() // does not wait for the group
}

func TestKafkaSharesPartitionsWithoutCountingTwice(t *testing.T) {
	t.Parallel()
	c := cluster(t, 8)
	p := producer(t, c.ListenAddrs())
	l := sinktest.New()
	run(t, config(c.ListenAddrs()), l)
	for round := range 4 {
		produce(t, p, 500*round, 500*round+250)
		_, leave := run(t, config(c.ListenAddrs()), l)
		produce(t, p, 500*round+250, 500*round+500)
		if _, err := c.WaitGroupStable(soon(t), "collectors", 2); err != nil {
			t.Fatal(err)
		}
		leave()
	}
	l.Expect(t, 2000)
}

func TestKafkaClaimsAgainWhatItLost(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	p := producer(t, c.ListenAddrs())
	l := sinktest.New()
	run(t, config(c.ListenAddrs()), l)
	produce(t, p, 0, 10)
	l.Expect(t, 10)
	for i := 1; i <= 3; i++ {
		l.Steal(topic + "/0")
		produce(t, p, 10*i, 10*i+10)
		l.Expect(t, 10*i+10)
	}
	if g := c.GroupInfo("collectors"); g.Epoch != 1 {
		t.Errorf("generation %d: a lost position ended it", g.Epoch)
	}
}

func TestKafkaStaysInTheGroupWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	c := cluster(t, 2)
	var heartbeats atomic.Int32
	c.ControlKey(int16(kmsg.Heartbeat), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		heartbeats.Add(1)
		return nil, nil, false
	})
	p := producer(t, c.ListenAddrs())
	l := sinktest.New()
	cfg := config(c.ListenAddrs())
	cfg.ReleaseTimeout = 400 * time.Millisecond
	run(t, cfg, l)
	produce(t, p, 0, 10)
	l.Expect(t, 10)
	l.With(func() { l.Away = true })
	produce(t, p, 10, 20)
	before := heartbeats.Load()
	sinktest.Eventually(t, "heartbeats while the store is away", func() bool { return heartbeats.Load() > before+30 })
	l.With(func() { l.Away = false })
	l.Expect(t, 20)
	if g := c.GroupInfo("collectors"); g.Epoch != 1 {
		t.Errorf("generation %d: the store's outage ended it", g.Epoch)
	}
}

func TestKafkaRecordsWhatRetentionTook(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	p := producer(t, c.ListenAddrs())
	l := sinktest.New()
	_, stop := run(t, config(c.ListenAddrs()), l)
	produce(t, p, 0, 10)
	l.Expect(t, 10)
	stop()
	for i := 10; i < 30; i++ {
		produce(t, p, i, i+1) // a batch each
	}
	must.Succeed(t, c.DeleteRecords(topic, 0, 25))
	run(t, config(c.ListenAddrs()), l)
	l.Expect(t, 15)
	gap := l.OnlyGap(t)
	if gap.From != "10" || gap.To != "25" || !strings.Contains(gap.Reason, "retention") || gap.Until.IsZero() {
		t.Errorf("gap %+v, want 10 to 25 by retention, with the time of record 25", gap)
	}
}

func TestKafkaPassesCompactedHolesWithoutAGap(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	must.Succeed(t, c.CreateTopic("compacted", 1, map[string]string{"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0"}))
	p := producer(t, c.ListenAddrs(), kgo.DefaultProduceTopic("compacted"))
	for i := range 60 {
		r := &kgo.Record{Key: fmt.Append(nil, i%3), Value: fmt.Append(nil, i)}
		must.Succeed(t, p.ProduceSync(soon(t), r).FirstErr())
	}
	c.Compact()
	l := sinktest.New()
	cfg := config(c.ListenAddrs())
	cfg.Topics = []string{"compacted"}
	run(t, cfg, l)
	sinktest.Eventually(t, "the end of the log reached", func() bool {
		var next string
		l.With(func() {
			if e := l.Entries["compacted/0"]; e != nil {
				next = e.Next
			}
		})
		return next == "60"
	})
	if all, _ := l.Total(); all == 0 || all == 60 {
		t.Errorf("%d values: the log was not compacted, or lost", all)
	}
	if gaps := l.Gaps(); len(gaps) != 0 {
		t.Errorf("holes were called gaps: %+v", gaps)
	}
}

func TestKafkaOutlivesABrokerOutage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held := kfake.Ports(port.Hold(t))
	c := cluster(t, 2, kfake.DataDir(dir), held)
	addrs := c.ListenAddrs()
	l := sinktest.New()
	k, _ := run(t, config(addrs), l)
	produce(t, producer(t, addrs), 0, 50)
	l.Expect(t, 50)
	c.Close()
	sinktest.Eventually(t, "the outage is in readiness", func() bool { return len(k.Ready()) > 0 })
	cluster(t, 2, kfake.DataDir(dir), held)
	produce(t, producer(t, addrs), 50, 100)
	l.Expect(t, 100)
	sinktest.Eventually(t, "ready again", func() bool { return len(k.Ready()) == 0 })
}

func TestKafkaFollowsLeaders(t *testing.T) {
	t.Parallel()
	c := cluster(t, 3, kfake.NumBrokers(3))
	p := producer(t, c.ListenAddrs())
	l := sinktest.New()
	run(t, config(c.ListenAddrs()), l)
	for round := range 3 {
		produce(t, p, 30*round, 30*round+30)
		l.Expect(t, 30*round+30)
		c.ShufflePartitionLeaders()
	}
}

func TestKafkaReadsNewPartitionsFromTheirStart(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	p := producer(t, c.ListenAddrs())
	l := sinktest.New()
	run(t, config(c.ListenAddrs()), l)
	produce(t, p, 0, 10)
	l.Expect(t, 10)

	req := kmsg.NewPtrCreatePartitionsRequest()
	grow := kmsg.NewCreatePartitionsRequestTopic()
	grow.Topic, grow.Count = topic, 4
	req.Topics = append(req.Topics, grow)
	if _, err := req.RequestWith(soon(t), p); err != nil {
		t.Fatal(err)
	}
	produce(t, producer(t, c.ListenAddrs()), 10, 50)
	l.Expect(t, 50)
}

func TestKafkaWaitsForATopicThatIsMissing(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	cfg := config(c.ListenAddrs())
	cfg.Topics = []string{"later"}
	l := sinktest.New()
	k, _ := run(t, cfg, l)
	sinktest.Eventually(t, "readiness names the topic", func() bool {
		reasons := k.Ready()
		return len(reasons) == 1 && strings.Contains(reasons[0], "topic later: it does not exist")
	})
	must.Succeed(t, c.CreateTopic("later", 2, nil))
	produce(t, producer(t, c.ListenAddrs(), kgo.DefaultProduceTopic("later")), 0, 20)
	l.Expect(t, 20)
}

// TestAMissingTopicSilencesNoOther: existing topics are read. A missing topic is named,
// read once it is created, and may be deleted again.
func TestAMissingTopicSilencesNoOther(t *testing.T) {
	t.Parallel()
	c := cluster(t, 2)
	cfg := config(c.ListenAddrs())
	cfg.Topics = []string{topic, "later"}
	l := sinktest.New()
	k, _ := run(t, cfg, l)
	p := producer(t, c.ListenAddrs())
	produce(t, p, 0, 20)
	l.Expect(t, 20)
	missing := func() bool { return strings.Contains(strings.Join(k.Ready(), "\n"), "topic later: it does not exist") }
	sinktest.Eventually(t, "readiness names the topic", missing)
	if got := gauge(t, k, "keyheat_source_missing_topics"); got != 1 {
		t.Errorf("%g topics are missing, want 1", got)
	}
	must.Succeed(t, c.CreateTopic("later", 2, nil))
	produce(t, producer(t, c.ListenAddrs(), kgo.DefaultProduceTopic("later")), 20, 40)
	l.Expect(t, 40)
	sinktest.Eventually(t, "nothing is missing", func() bool { return len(k.Ready()) == 0 })
	if got := gauge(t, k, "keyheat_source_missing_topics"); got != 0 {
		t.Errorf("%g topics are missing, want 0", got)
	}
	request := kmsg.NewPtrDeleteTopicsRequest()
	request.TopicNames = []string{"later"}
	named := kmsg.NewDeleteTopicsRequestTopic()
	named.Topic = kmsg.StringPtr("later")
	request.Topics = append(request.Topics, named)
	if _, err := request.RequestWith(soon(t), p); err != nil {
		t.Fatal(err)
	}
	sinktest.Eventually(t, "readiness names the topic again", missing)
	produce(t, p, 40, 60)
	l.Expect(t, 60)
}

func TestKafkaCountsCommittedTransactionsOnly(t *testing.T) {
	t.Parallel()
	c := cluster(t, 2)
	l := sinktest.New()
	run(t, config(c.ListenAddrs()), l)
	p := producer(t, c.ListenAddrs(), kgo.TransactionalID("writer"))
	for i := range 6 {
		must.Succeed(t, p.BeginTransaction())
		produce(t, p, 10*i, 10*i+10)
		must.Succeed(t, p.EndTransaction(soon(t), kgo.TransactionEndTry(i%2 == 0)))
	}
	l.Expect(t, 30)
	l.With(func() {
		for v := range l.Counted {
			if n := len(v); n == 2 && (v[0]-'0')%2 == 1 {
				t.Errorf("value %s of an aborted transaction was counted", v)
			}
		}
	})
}

func TestKafkaSpeaksEveryFetchVersion(t *testing.T) {
	t.Parallel()
	for version := int16(4); version <= 13; version++ {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			t.Parallel()
			versions := kversion.Stable()
			versions.SetMaxKeyVersion(int16(kmsg.Fetch), version)
			c := cluster(t, 1, kfake.MaxVersions(versions))
			produce(t, producer(t, c.ListenAddrs()), 0, 40)
			l := sinktest.New()
			run(t, config(c.ListenAddrs()), l)
			l.Expect(t, 40)
		})
	}
}

func TestKafkaReadsABatchLargerThanAFetch(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	p := producer(t, c.ListenAddrs())
	large := &kgo.Record{Value: []byte(strings.Repeat("x", 600<<10))}
	must.Succeed(t, p.ProduceSync(soon(t), large, &kgo.Record{Value: []byte("small")}).FirstErr())
	cfg := config(c.ListenAddrs())
	cfg.FetchBytes = 16 << 10
	l := sinktest.New()
	run(t, cfg, l)
	l.Expect(t, 2)
}

func TestKafkaTellsTheGroupWhatIsDurable(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	produce(t, producer(t, c.ListenAddrs()), 0, 25)
	l := sinktest.New()
	run(t, config(c.ListenAddrs()), l)
	l.Expect(t, 25)
	sinktest.Eventually(t, "offset 25 committed", func() bool {
		g := c.GroupInfo("collectors")
		return g != nil && g.Commits[topic][0].Offset == 25
	})
}

func TestKafkaMovesTheWatermarkOfIdlePartitions(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	produce(t, producer(t, c.ListenAddrs()), 0, 5)
	l := sinktest.New()
	run(t, config(c.ListenAddrs()), l)
	sinktest.Eventually(t, "folds at the end of the log without messages", func() bool {
		idle := 0
		l.With(func() {
			for _, b := range l.Folded {
				if b.End && b.Read > 0 && !b.Final && b.Next == "5" && b.Bytes == 0 && b.Lag == 0 {
					idle++
				}
			}
		})
		return idle >= 3
	})
	l.With(func() {
		var bytes int64
		for _, b := range l.Folded {
			if bytes += int64(b.Bytes); b.Bytes > 0 && b.Time == 0 {
				t.Errorf("batch %+v, want the messages' time", b)
			}
		}
		if bytes != 5 {
			t.Errorf("batches of %d bytes, want 5", bytes)
		}
	})
}

func TestKafkaCountsWhatItReads(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	produce(t, producer(t, c.ListenAddrs()), 0, 7)
	l := sinktest.New()
	k, _ := run(t, config(c.ListenAddrs()), l)
	l.Expect(t, 7)
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(k)
	// The source counts a batch after the sink has taken it.
	sinktest.Eventually(t, "7 messages of 1 byte in the metrics", func() bool {
		families, err := reg.Gather()
		must.Succeed(t, err)
		got := make(map[string]float64)
		for _, f := range families {
			for _, m := range f.Metric {
				got[f.GetName()] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
		return got["keyheat_source_messages_total"] == 7 && got["keyheat_source_bytes_total"] == 7 && got["keyheat_source_fetches_total"] > 0
	})
}

// gauge returns the value of one of the source's gauges without labels.
func gauge(t *testing.T, k *kafka.Source, name string) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(k)
	families, err := registry.Gather()
	must.Succeed(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}
