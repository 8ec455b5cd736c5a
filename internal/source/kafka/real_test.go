//go:build e2e

package kafka_test

import (
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/sinktest"
)

func TestRealKafkaTransactionsAndHardStops(t *testing.T) {
	s := kafkatest.Start(t)
	s.CreateTopic(t, topic, 4)
	addrs := []string{s.Addr}
	l := sinktest.New()
	run(t, config(addrs), l)
	p := producer(t, addrs, kgo.TransactionalID("writer"))
	committed := 0
	for i := range 12 {
		must.Succeed(t, p.BeginTransaction())
		produce(t, p, 1000+50*i, 1050+50*i)
		commit := i%3 != 0
		must.Succeed(t, p.EndTransaction(t.Context(), kgo.TransactionEndTry(commit)))
		if commit {
			committed += 50
		}
	}
	l.Expect(t, committed)
	s.Kill(t)
	s.Restart(t)
	produce(t, producer(t, addrs), 5000, 5100)
	l.Expect(t, committed+100)
	l.With(func() {
		for v := range l.Counted {
			n, err := strconv.Atoi(v)
			if err != nil {
				t.Errorf("value %q was counted, which nobody produced", v)
			}
			if n < 5000 && (n-1000)/50%3 == 0 {
				t.Errorf("value %s of an aborted transaction was counted", v)
			}
		}
	})
	if gaps := l.Gaps(); len(gaps) != 0 {
		t.Errorf("gaps: %+v", gaps)
	}
}

func TestRealKafkaRebalancesCountOnce(t *testing.T) {
	s := kafkatest.Start(t)
	s.CreateTopic(t, topic, 8)
	addrs := []string{s.Addr}
	l := sinktest.New()
	run(t, config(addrs), l)
	p := producer(t, addrs)
	for round := range 5 {
		produce(t, p, 2000*round, 2000*round+1000)
		k, leave := run(t, config(addrs), l)
		produce(t, p, 2000*round+1000, 2000*round+2000)
		sinktest.Eventually(t, "a member", func() bool { return len(k.Ready()) == 0 })
		leave()
	}
	l.Expect(t, 10000)
}

func TestRealKafkaCodecs(t *testing.T) {
	s := kafkatest.Start(t)
	s.CreateTopic(t, topic, 2)
	l := sinktest.New()
	run(t, config([]string{s.Addr}), l)
	for i, codec := range []kgo.CompressionCodec{
		kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression(),
	} {
		produce(t, producer(t, []string{s.Addr}, kgo.ProducerBatchCompression(codec)), 200*i, 200*i+200)
	}
	l.Expect(t, 1000)
}

// TestRealKafkaRetentionAheadIsAGap: retention deletes records before they are read. They
// are one gap of exactly these offsets, and all other records count once.
func TestRealKafkaRetentionAheadIsAGap(t *testing.T) {
	s := kafkatest.Start(t)
	s.CreateTopic(t, topic, 1)
	addrs := []string{s.Addr}
	l := sinktest.New()
	_, stop := run(t, config(addrs), l)
	p := producer(t, addrs)
	produce(t, p, 0, 100)
	l.Expect(t, 100)
	stop()
	produce(t, p, 100, 200)
	cut := kmsg.NewPtrDeleteRecordsRequest()
	cut.TimeoutMillis = 10_000
	cut.Topics = []kmsg.DeleteRecordsRequestTopic{{
		Topic: topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 0, Offset: 150}},
	}}
	response, err := cut.RequestWith(soon(t), p)
	must.Succeed(t, err)
	if code := response.Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Fatalf("the broker cut nothing: error %d", code)
	}
	run(t, config(addrs), l)
	produce(t, p, 200, 250)
	l.Expect(t, 200)
	if g := l.OnlyGap(t); g.From != "100" || g.To != "150" || g.Reason == "" {
		t.Errorf("the gap is %+v, want offsets 100 to 150", g)
	}
	l.With(func() {
		for v := range l.Counted {
			if n, _ := strconv.Atoi(v); n >= 100 && n < 150 {
				t.Errorf("value %s was counted, which the log no longer has", v)
			}
		}
	})
}
