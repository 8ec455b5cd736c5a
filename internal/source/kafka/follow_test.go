package kafka_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/kafka"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/sinktest"
)

// requests are the fetches that reach a cluster: how many partitions each asks for.
type requests struct {
	mu    sync.Mutex
	sizes []int
}

// watchRequests records the fetches, and answers without topics if breaks reports true.
func watchRequests(c *kfake.Cluster, breaks func(partitions []int32) bool) *requests {
	r := new(requests)
	c.ControlKey(int16(kmsg.Fetch), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		var asked []int32
		for _, t := range kreq.(*kmsg.FetchRequest).Topics {
			for _, p := range t.Partitions {
				asked = append(asked, p.Partition)
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sizes = append(r.sizes, len(asked))
		if breaks != nil && breaks(asked) {
			return kreq.ResponseKind(), nil, true // no topic in it
		}
		return nil, nil, false
	})
	return r
}

// since returns the sizes of all requests but the first n.
func (r *requests) since(n int) []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sizes[n:])
}

// manual produces to the partitions that records name.
func manual(t *testing.T, c *kfake.Cluster) *kgo.Client {
	return producer(t, c.ListenAddrs(), kgo.RecordPartitioner(kgo.ManualPartitioner()))
}

// put writes one record, a number, to a partition.
func put(t *testing.T, p *kgo.Client, partition int32, value int) {
	t.Helper()
	record := &kgo.Record{Value: fmt.Append(nil, value), Partition: partition}
	must.Succeed(t, p.ProduceSync(soon(t), record).FirstErr())
}

// TestQuietPartitionsShareAFetch: partitions at the ends of their logs are fetched
// together, even while records come to one of them.
func TestQuietPartitionsShareAFetch(t *testing.T) {
	t.Parallel()
	const partitions, records = 40, 30
	c := cluster(t, partitions)
	asked := watchRequests(c, nil)
	cfg := config(c.ListenAddrs())
	cfg.MaxWait = 400 * time.Millisecond
	l := sinktest.New()
	k, stop := run(t, cfg, l)
	sinktest.Eventually(t, "a request for most partitions", func() bool {
		return slices.ContainsFunc(asked.since(0), func(n int) bool { return n > partitions/2 })
	})

	p := manual(t, c)
	before := len(asked.since(0))
	began := time.Now()
	for i := range records {
		put(t, p, 7, i)
		sinktest.Eventually(t, "it is read", func() (read bool) {
			l.With(func() {
				read = slices.ContainsFunc(l.Folded, func(b source.Batch) bool { return b.Next == fmt.Sprint(i+1) })
			})
			return read
		})
	}
	l.Expect(t, records)
	made := asked.since(before)
	took := time.Since(began)
	// Ten requests begin within MaxWait at most, of one broker, and a few more end it.
	if most := 10*int(took/cfg.MaxWait+1) + 5; len(made) > most {
		t.Errorf("%d requests in %s for %d partitions, want at most %d: %v", len(made), took, partitions, most, made)
	}
	stop()
	expectAllFree(t, k)
}

// TestAQuietPartitionIsHeardOf: while records come to one partition, the others report the
// ends of their logs as often as if they were alone.
func TestAQuietPartitionIsHeardOf(t *testing.T) {
	t.Parallel()
	c := cluster(t, 3)
	cfg := config(c.ListenAddrs())
	cfg.MaxWait = 200 * time.Millisecond
	var quietFolds atomic.Int64
	l := &hooked{Recorder: sinktest.New()}
	l.folding = func(_ context.Context, b source.Batch) error {
		if b.Next == "0" && b.End {
			quietFolds.Add(1)
		}
		return nil
	}
	run(t, cfg, l)
	sinktest.Eventually(t, "all partitions are read", func() bool { return quietFolds.Load() >= 3 })
	p := manual(t, c)
	put(t, p, 1, 0)
	before, began := quietFolds.Load(), time.Now()
	n, heard := 1, 0
	sinktest.Eventually(t, "both quiet partitions are heard of, ten times each", func() bool {
		put(t, p, 1, n)
		n++
		heard = int(quietFolds.Load() - before)
		return heard >= 20
	})
	l.Expect(t, n)
	if once := int(time.Since(began) / cfg.MaxWait); heard > 3*once+6 {
		t.Errorf("two quiet partitions were heard of %d times, want some %d", heard, 2*once)
	}
}

// TestAPartitionThatBreaksASharedFetchFailsAlone: the other partitions are read, and
// readiness names the broken one.
func TestAPartitionThatBreaksASharedFetchFailsAlone(t *testing.T) {
	t.Parallel()
	c := cluster(t, 5)
	watchRequests(c, func(partitions []int32) bool { return slices.Contains(partitions, 3) })
	l := sinktest.New()
	k, stop := run(t, config(c.ListenAddrs()), l)
	p := manual(t, c)
	n := 0
	for range 10 {
		for _, partition := range []int32{0, 1, 2, 4} {
			put(t, p, partition, n)
			n++
		}
		l.Expect(t, n)
	}
	sinktest.Eventually(t, "readiness names the partition", func() bool {
		reasons := k.Ready()
		return len(reasons) == 1 && strings.Contains(reasons[0], "samples/3: ")
	})
	stop()
	expectAllFree(t, k)
}

// TestSharedFetchesThatFailLoseNothing: every third request fails, shared or not.
func TestSharedFetchesThatFailLoseNothing(t *testing.T) {
	t.Parallel()
	c := cluster(t, 6)
	requests := 0
	watchRequests(c, func([]int32) bool { requests++; return requests%3 == 0 })
	l := sinktest.New()
	k, stop := run(t, config(c.ListenAddrs()), l)
	p := producer(t, c.ListenAddrs())
	for i := range 40 {
		produce(t, p, 5*i, 5*i+5)
	}
	l.Expect(t, 200)
	stop()
	expectAllFree(t, k)
}

// TestSharedFetchesGoToEachPartitionsLeader: a request names the partitions of one broker.
func TestSharedFetchesGoToEachPartitionsLeader(t *testing.T) {
	t.Parallel()
	c := cluster(t, 12, kfake.NumBrokers(3))
	var shared, astray atomic.Int64
	watchRequests(c, func(partitions []int32) bool {
		if len(partitions) > 1 {
			shared.Add(1)
		}
		for _, partition := range partitions {
			if c.LeaderFor(topic, partition) != c.CurrentNode() {
				astray.Add(1)
			}
		}
		return false
	})
	l := sinktest.New()
	run(t, config(c.ListenAddrs()), l)
	p := producer(t, c.ListenAddrs())
	n := 0
	sinktest.Eventually(t, "some requests are shared", func() bool {
		produce(t, p, n, n+4)
		n += 4
		return shared.Load() > 20
	})
	l.Expect(t, n)
	if astray.Load() > 0 {
		t.Errorf("%d times a partition was asked for of a broker that does not lead it", astray.Load())
	}
}

// silence makes the selected brokers leave fetches unanswered while it is true.
func silence(c *kfake.Cluster, of func(broker int32) bool) *atomic.Bool {
	silent := new(atomic.Bool)
	c.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		return nil, nil, silent.Load() && of(c.CurrentNode())
	})
	return silent
}

// TestASilentBrokerIsNamedInTime: readiness names a broker after one unanswered shared
// request, and not only after one for each partition.
func TestASilentBrokerIsNamedInTime(t *testing.T) {
	t.Parallel()
	c := cluster(t, 3)
	asked := watchRequests(c, nil)
	silent := silence(c, func(int32) bool { return true })
	k, stop := run(t, config(c.ListenAddrs()), sinktest.New())
	sinktest.Eventually(t, "a fetch is shared", func() bool { return slices.Max(append(asked.since(0), 0)) > 1 })
	silent.Store(true)
	sinktest.Eventually(t, "readiness names the partitions, by a request for several", func() bool {
		reasons := k.Ready()
		return len(reasons) == 3 && !slices.ContainsFunc(reasons, func(s string) bool { return !strings.Contains(s, "with other partitions") })
	})
	stop()
	expectAllFree(t, k)
}

// TestASilentBrokerHoldsUpNoOther: the partitions of other brokers are read meanwhile.
func TestASilentBrokerHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	const partitions = 12
	c := cluster(t, partitions, kfake.NumBrokers(3))
	silent := silence(c, func(broker int32) bool { return broker == 0 })
	cfg := config(c.ListenAddrs())
	cfg.RequestTimeout = time.Minute // longer than anything here is waited for
	l := sinktest.New()
	k, stop := run(t, cfg, l)
	sinktest.Eventually(t, "all partitions are read", func() bool { return len(k.Ready()) == 0 })
	silent.Store(true)
	p, n := manual(t, c), 0
	for range 10 {
		for partition := range int32(partitions) {
			if c.LeaderFor(topic, partition) != 0 {
				put(t, p, partition, n)
				n++
			}
		}
		l.Expect(t, n)
	}
	stop()
	expectAllFree(t, k)
}

// TestEveryVersionIsShared: of the Fetch API, from the oldest that is supported.
func TestEveryVersionIsShared(t *testing.T) {
	t.Parallel()
	for version := int16(4); version <= 13; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			versions := kversion.Stable()
			versions.SetMaxKeyVersion(int16(kmsg.Fetch), version)
			c := cluster(t, 4, kfake.MaxVersions(versions))
			asked := watchRequests(c, nil)
			l := sinktest.New()
			run(t, config(c.ListenAddrs()), l)
			p := producer(t, c.ListenAddrs())
			for n := 0; n < 100; n += 10 {
				produce(t, p, n, n+10)
				l.Expect(t, n+10)
			}
			if most := slices.Max(asked.since(0)); most < 2 {
				t.Errorf("no request of %d was for more than one partition", len(asked.since(0)))
			}
		})
	}
}

// TestASharedResponseIsReadByPartition: topics and partitions may have any order in a
// response. A missing partition is an error, a foreign one is passed over.
func TestASharedResponseIsReadByPartition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.Int16Range(4, 13).Draw(t, "version")
		n := rapid.IntRange(1, 12).Draw(t, "partitions")
		var all []kafka.TestPart
		for i := range n {
			of := byte(rapid.IntRange(0, 2).Draw(t, "topic"))
			all = append(all, kafka.TestPart{Topic: fmt.Sprint("topic ", of), ID: [16]byte{1 + of}, Partition: int32(i)})
		}
		res := kmsg.NewPtrFetchResponse()
		res.SetVersion(version)
		add := func(part kafka.TestPart) {
			rp := kmsg.NewFetchResponseTopicPartition()
			rp.Partition, rp.RecordBatches = part.Partition, fmt.Append(nil, part.Topic, part.Partition)
			for i := range res.Topics {
				if res.Topics[i].Topic == part.Topic && rapid.Bool().Draw(t, "same topic") {
					res.Topics[i].Partitions = append(res.Topics[i].Partitions, rp)
					return
				}
			}
			rt := kmsg.NewFetchResponseTopic()
			rt.Topic, rt.TopicID, rt.Partitions = part.Topic, part.ID, []kmsg.FetchResponseTopicPartition{rp}
			res.Topics = append(res.Topics, rt)
		}
		lacks, foreign := rapid.Bool().Draw(t, "lacks one"), rapid.Bool().Draw(t, "has a foreign one")
		for i, part := range rapid.Permutation(all).Draw(t, "order") {
			if i > 0 || !lacks {
				add(part)
			}
		}
		if foreign {
			add(kafka.TestPart{Topic: "another", ID: [16]byte{9}, Partition: 0})
		}
		records, err := kafka.ParseParts(res.AppendTo(nil), version, all)
		if lacks {
			if err == nil || !strings.Contains(err.Error(), "which was asked for") {
				t.Fatalf("a partition is missing: %v", err)
			}
			return
		}
		must.Succeed(t, err)
		for i, part := range all {
			if want := fmt.Sprint(part.Topic, part.Partition); string(records[i]) != want {
				t.Fatalf("part %d has %q, want %q", i, records[i], want)
			}
		}
	})
}
