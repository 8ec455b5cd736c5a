package kafka_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/sinktest"
)

// remake deletes the topic and creates it again.
func remake(t *testing.T, c *kfake.Cluster, partitions int32) {
	t.Helper()
	must.Succeed(t, c.DeleteTopic(topic))
	must.Succeed(t, c.CreateTopic(topic, partitions, nil))
}

// TestATopicMadeAnewIsReadFromItsStart: the new topic is smaller or larger than the read
// part of the old one. A collector runs meanwhile or not. The broker fetches by id, or only
// reports it.
func TestATopicMadeAnewIsReadFromItsStart(t *testing.T) {
	t.Parallel()
	byName := kversion.Stable()
	byName.SetMaxKeyVersion(int16(kmsg.Fetch), 12)
	for _, row := range []struct {
		name     string
		refilled int
		running  bool
		opts     []kfake.Opt
	}{
		{name: "smaller, stopped", refilled: 4},
		{name: "larger, stopped", refilled: 3000},
		{name: "smaller, running", refilled: 4, running: true},
		{name: "larger, running", refilled: 3000, running: true},
		{name: "smaller, stopped, by name", refilled: 4, opts: []kfake.Opt{kfake.MaxVersions(byName)}},
		{name: "larger, stopped, by name", refilled: 3000, opts: []kfake.Opt{kfake.MaxVersions(byName)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := cluster(t, 1, row.opts...)
			l := sinktest.New()
			_, stop := run(t, config(c.ListenAddrs()), l)
			produce(t, producer(t, c.ListenAddrs()), 0, 10)
			l.Expect(t, 10)
			if !row.running {
				stop()
			}
			remake(t, c, 1)
			produce(t, producer(t, c.ListenAddrs()), 10, 10+row.refilled)
			if !row.running {
				run(t, config(c.ListenAddrs()), l)
			}
			l.Expect(t, 10+row.refilled)
			if g := l.OnlyGap(t); g.From != "10" || g.To != "0" || !strings.Contains(g.Reason, "created again") {
				t.Errorf("the gap is %+v, want 10 to 0, created again", g)
			}
		})
	}
}

// TestAClaimNamesTheLog: a claim has the cluster and the topic's id, if the broker sends
// them.
func TestAClaimNamesTheLog(t *testing.T) {
	t.Parallel()
	withoutIDs := kversion.Stable()
	withoutIDs.SetMaxKeyVersion(int16(kmsg.Metadata), 9)
	for _, row := range []struct {
		name string
		ids  bool
		opts []kfake.Opt
	}{
		{"ids", true, nil},
		{"no ids", false, []kfake.Opt{kfake.MaxVersions(withoutIDs)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := cluster(t, 3, append(row.opts, kfake.ClusterID("the-cluster"))...)
			produce(t, producer(t, c.ListenAddrs()), 0, 9)
			l := sinktest.New()
			run(t, config(c.ListenAddrs()), l)
			l.Expect(t, 9)
			l.With(func() {
				log := l.Entries[topic+"/1"].Log
				if log.Cluster != "kafka:the-cluster" || (log.ID != "") != row.ids || log.Start != "0" || log.Partitions != 3 || log.Readers != "collectors" {
					t.Errorf("the claim was of %+v", log)
				}
			})
		})
	}
}

// TestALogThatWasCutIsReadOnAtItsEnd and never again from its start.
func TestALogThatWasCutIsReadOnAtItsEnd(t *testing.T) {
	t.Parallel()
	withoutIDs := kversion.Stable()
	withoutIDs.SetMaxKeyVersion(int16(kmsg.Metadata), 9)
	for _, row := range []struct {
		name, reason string
		opts         []kfake.Opt
	}{
		{"ids", "was cut", nil},
		{"no ids", "no topic ids", []kfake.Opt{kfake.MaxVersions(withoutIDs)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := cluster(t, 1, row.opts...)
			p := producer(t, c.ListenAddrs())
			produce(t, p, 0, 7)
			l := sinktest.New()
			l.Entries[topic+"/0"] = &sinktest.Entry{Next: "10"} // three more were read and are gone
			run(t, config(c.ListenAddrs()), l)
			sinktest.Eventually(t, "the cut is recorded", func() bool { return len(l.Gaps()) > 0 })
			produce(t, p, 100, 104)
			l.Expect(t, 4)
			if g := l.OnlyGap(t); g.From != "10" || g.To != "7" || !strings.Contains(g.Reason, row.reason) {
				t.Errorf("the gap is %+v, want 10 to 7: %s", g, row.reason)
			}
		})
	}
}

// TestALogThatWasCutAndFilledAgainIsReadFromTheCut: the position is within the log again,
// but its records are others. The leader's epoch reveals it.
func TestALogThatWasCutAndFilledAgainIsReadFromTheCut(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	before := []kafkatest.Batch{{Base: 0, Records: kafkatest.Values("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")}}
	after := []kafkatest.Batch{
		{Base: 0, Records: kafkatest.Values("0", "1", "2", "3", "4", "5", "6")},
		{Base: 7, Records: kafkatest.Values("107", "108", "109", "110", "111")},
	}
	cut := make(chan struct{})
	c.ControlKey(int16(kmsg.Fetch), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		q := kreq.(*kmsg.FetchRequest)
		asked := q.Topics[0].Partitions[0]
		log, end := before, int64(10)
		p := kmsg.NewFetchResponseTopicPartition()
		select {
		case <-cut:
			log, end = after, 12
			if asked.LastFetchedEpoch == 0 && asked.FetchOffset == 10 {
				p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset = 0, 7
				log = nil
			}
		default:
		}
		for _, b := range log {
			if b.Base+int64(len(b.Records)) > asked.FetchOffset {
				p.RecordBatches = b.AppendTo(p.RecordBatches)
			}
		}
		p.HighWatermark, p.LastStableOffset, p.LogStartOffset = end, end, 0
		r := q.ResponseKind().(*kmsg.FetchResponse)
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic, rt.TopicID, rt.Partitions = topic, q.Topics[0].TopicID, append(rt.Partitions, p)
		r.Topics = append(r.Topics, rt)
		return r, nil, true
	})
	l := sinktest.New()
	run(t, config(c.ListenAddrs()), l)
	l.Expect(t, 10)
	close(cut)
	l.Expect(t, 15)
	if g := l.OnlyGap(t); g.From != "10" || g.To != "7" || !strings.Contains(g.Reason, "was cut") {
		t.Errorf("the gap is %+v, want 10 to 7, cut", g)
	}
}

// TestProbeSaysWhatGoesUnseen: brokers send no ids, or do not fetch by them.
func TestProbeSaysWhatGoesUnseen(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		metadata, fetch int16
		says            string
	}{
		{12, 13, ""}, {12, 12, "within 2s"}, {9, 11, "goes unseen"},
	} {
		t.Run(fmt.Sprint(row), func(t *testing.T) {
			t.Parallel()
			versions := kversion.Stable()
			versions.SetMaxKeyVersion(int16(kmsg.Metadata), row.metadata)
			versions.SetMaxKeyVersion(int16(kmsg.Fetch), row.fetch)
			c := cluster(t, 1, kfake.MaxVersions(versions))
			limits, err := config(c.ListenAddrs()).Probe(t.Context())
			if err != nil || !strings.Contains(limits, row.says) || (limits == "") != (row.says == "") {
				t.Errorf("%q, %v: want %q in it", limits, err, row.says)
			}
		})
	}
}

// TestALargeBatchNamesItsSetting: an oversized batch or record stops the partition or is a
// gap, and the reason names the setting to raise.
func TestALargeBatchNamesItsSetting(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 3<<20)
	for _, codec := range []kafkatest.Codec{kafkatest.None, kafkatest.Zstd} {
		t.Run(fmt.Sprint("codec ", codec), func(t *testing.T) {
			t.Parallel()
			c := cluster(t, 1)
			serve(c, 2, []kafkatest.Batch{
				{Base: 0, Codec: codec, Records: kafkatest.Values(big)}, {Base: 1, Records: kafkatest.Values("1")},
			}, func([]byte, int64) {})
			cfg := config(c.ListenAddrs())
			cfg.FetchBytes, cfg.MaxBatchBytes = 16<<10, 1<<20
			l := sinktest.New()
			k, _ := run(t, cfg, l)
			sinktest.Eventually(t, "the setting is named", func() bool {
				for _, g := range l.Gaps() {
					if strings.Contains(g.Reason, "kafka.max_batch") {
						return true
					}
				}
				return strings.Contains(strings.Join(k.Ready(), ""), "kafka.max_batch")
			})
		})
	}
}
