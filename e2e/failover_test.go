//go:build e2e

package e2e_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

var failoverKills = flag.Int("failover.kills", 0, "how many brokers TestFailover kills, one after another; 0 skips it")

const (
	failoverTopic = "failover"
	// failoverPeriod is how often each partition gets a message.
	failoverPeriod = 100 * time.Millisecond
	// failoverGoal is the most that our worst silence may be, times the control's.
	failoverGoal = 1.2
	// offsetsTopicPartitions is how many coordinators the groups of scripts/kafka's clusters
	// are shared by.
	offsetsTopicPartitions = 4
)

// TestFailover kills one broker of three after the other, mostly the coordinator of the
// collectors' group, and measures for how long nothing of a partition is counted, beside a
// franz-go group on the same topic with the same coordinator. A killed broker comes back
// when both groups read every partition again.
func TestFailover(t *testing.T) {
	if *failoverKills == 0 {
		t.Skip("make failover runs it")
	}
	f := newFailover(t)
	produced := f.produce(t)
	f.control(t)
	f.ours(t)
	f.settled(t)
	random := rand.New(rand.NewPCG(seed, 7))
	for i := range *failoverKills {
		f.kill(t, i, random)
	}
	acknowledged := produced()
	want := readTopic(t, f.nodes[0].Addr, failoverTopic)
	if want.requests != acknowledged {
		t.Errorf("the topic holds %d samples, %d were acknowledged", want.requests, acknowledged)
	}
	f.matchesTopic(t, want, time.Minute)
	f.noGaps(t)
	ours := quantilesOf(f.silences, func(s silences) time.Duration { return s.ours })
	control := quantilesOf(f.silences, func(s silences) time.Duration { return s.control })
	ratio := float64(ours.most) / float64(control.most)
	t.Logf("%d samples; for how long nothing of a partition was read, the longest in each of %d kills:", want.requests, *failoverKills)
	t.Logf("%-8s %s", "ours", ours)
	t.Logf("%-8s %s", "control", control)
	t.Logf("%-8s %s", "log", quantilesOf(f.silences, func(s silences) time.Duration { return s.log }))
	t.Logf("%-8s %.2f", "ratio", ratio)
	if ratio > failoverGoal {
		t.Errorf("want at most %.1f times the control's worst silence", failoverGoal)
	}
}

// failover is a cluster of three under two groups.
type failover struct {
	*scenario
	nodes    []*kafkatest.Server
	admin    *kadm.Client
	watch    map[string]*progress // ours, the control's and the log's own
	silences []silences
}

// silences are for how long one kill left a partition unread at most, by group, and for how
// long the log took no message for one, which nobody can read before.
type silences struct{ ours, control, log time.Duration }

func newFailover(t *testing.T) *failover {
	f := &failover{scenario: &scenario{}, nodes: kafkatest.StartCluster(t, 3), watch: map[string]*progress{}}
	for _, name := range []string{"ours", "control", "log"} {
		f.watch[name] = newProgress()
	}
	f.nodes[0].CreateTopic(t, failoverTopic, partitions)
	// Positions in the store show what was counted: with few commits a second they would
	// show the pauses between those.
	f.addDaemons(t, failoverTopic, f.addresses(), "commit: {interval: 200ms}")
	f.admin = kadm.NewClient(f.client(t))
	return f
}

func (f *failover) addresses() (all []string) {
	for _, n := range f.nodes {
		all = append(all, n.Addr)
	}
	return all
}

func (f *failover) client(t *testing.T, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(f.addresses()...))...)
	must.Succeed(t, err)
	t.Cleanup(client.Close)
	return client
}

// produce writes to every partition at a steady rate until it is told to stop; then it
// returns how many samples were acknowledged. It looks for new leaders more often than
// clients usually do, so that silences are those of who reads.
func (f *failover) produce(t *testing.T) (stop func() int64) {
	client := f.client(t, kgo.DefaultProduceTopic(failoverTopic), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(0), kgo.MaxBufferedRecords(100_000), kgo.MetadataMinAge(failoverPeriod),
		kgo.RetryBackoffFn(func(int) time.Duration { return failoverPeriod }))
	ctx, cancel := context.WithCancel(t.Context())
	var acknowledged atomic.Int64
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(failoverPeriod)
		defer tick.Stop()
		for n := 0; ctx.Err() == nil; <-tick.C {
			now := time.Now()
			for partition := range int32(partitions) {
				n++
				client.Produce(t.Context(), &kgo.Record{Partition: partition, Timestamp: now, Value: fmt.Appendf(nil,
					`{"ts":%d,"table":"orm","pk":"k%d","op":"UpdateItem","wcu":1}`, now.UnixMilli(), n%1000)},
					func(r *kgo.Record, err error) {
						switch {
						case err == nil:
							acknowledged.Add(1)
							f.watch["log"].reached(r.Partition, r.Offset+1, time.Now())
						case t.Context().Err() == nil:
							t.Errorf("produce: %v", err)
						}
					})
			}
		}
	})
	end := sync.OnceFunc(func() { cancel(); done.Wait() })
	t.Cleanup(end)
	return func() int64 {
		end()
		must.Succeed(t, client.Flush(t.Context()))
		return acknowledged.Load()
	}
}

// control starts two members of a franz-go group with its defaults.
func (f *failover) control(t *testing.T) {
	group := "control"
	for n := 0; coordinatorPartition(group) != coordinatorPartition(failoverTopic); n++ {
		group = fmt.Sprint("control-", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	for range 2 {
		client := f.client(t, kgo.ConsumerGroup(group), kgo.ConsumeTopics(failoverTopic))
		reading.Go(func() {
			for ctx.Err() == nil {
				client.PollFetches(ctx).EachPartition(func(p kgo.FetchTopicPartition) {
					if n := len(p.Records); n > 0 {
						f.watch["control"].reached(p.Partition, p.Records[n-1].Offset+1, time.Now())
					}
				})
			}
		})
	}
	t.Cleanup(func() { cancel(); reading.Wait() })
}

// coordinatorPartition is the partition of the topic of offsets whose leader is a group's
// coordinator: Java's hash code of the group's name.
func coordinatorPartition(group string) int32 {
	var h int32
	for _, c := range group {
		h = 31*h + c
	}
	return (h & 0x7fffffff) % offsetsTopicPartitions
}

// ours starts the collectors, and follows the positions that they store.
func (f *failover) ours(t *testing.T) {
	f.startCollectors(t)
	f.follow(t, f.watch["ours"])
}

// follow records how far partitions are counted until the test ends.
func (w *scenario) follow(t *testing.T, into *progress) {
	ctx, cancel := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	reading.Go(func() {
		tick := time.NewTicker(failoverPeriod / 2)
		defer tick.Stop()
		for ctx.Err() == nil {
			all, err := w.positions(ctx)
			if err != nil && ctx.Err() == nil {
				t.Errorf("positions: %v", err)
			}
			for partition, offset := range all {
				into.reached(partition, offset, time.Now())
			}
			<-tick.C
		}
	})
	t.Cleanup(func() { cancel(); reading.Wait() })
}

// positions returns the stored position of each partition.
func (w *scenario) positions(ctx context.Context) (map[int32]int64, error) {
	rows, err := w.database.QueryContext(ctx, `SELECT name, next_offset::bigint FROM positions`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[int32]int64{}
	for rows.Next() {
		var name string
		var offset int64
		if err := rows.Scan(&name, &offset); err != nil {
			return nil, err
		}
		_, number, _ := strings.Cut(name, "/")
		partition, err := strconv.ParseInt(number, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("the partition %q: %w", name, err)
		}
		all[int32(partition)] = offset
	}
	return all, rows.Err()
}

// kill kills a broker, mostly the coordinator, starts it again when both groups read every partition, and says
// how long each was silent.
func (f *failover) kill(t *testing.T, i int, random *rand.Rand) {
	t.Helper()
	node, is := f.coordinator(t), "the coordinator"
	if i%5 == 4 {
		node, is = (node+1+random.IntN(2))%3, "another one"
	}
	for _, p := range f.watch {
		p.forget()
	}
	f.nodes[node].Kill(t)
	killed := time.Now()
	f.goOn(t, killed)
	f.nodes[node].Restart(t)
	f.settled(t)
	silent := silences{f.watch["ours"].worst(), f.watch["control"].worst(), f.watch["log"].worst()}
	f.silences = append(f.silences, silent)
	t.Logf("kill %2d, broker %d, %s: silent for %s, the control for %s, the log for %s", i+1, node+1, is,
		rounded(silent.ours), rounded(silent.control), rounded(silent.log))
}

// coordinator returns which node coordinates the collectors' group.
func (f *failover) coordinator(t *testing.T) (node int) {
	t.Helper()
	within(t, time.Minute, "the group has a coordinator", func() error {
		found := f.admin.FindGroupCoordinators(t.Context(), failoverTopic)[failoverTopic]
		node = int(found.NodeID) - 1
		return found.Err
	})
	return node
}

// goOn waits until both groups have read every partition after a time.
func (f *failover) goOn(t *testing.T, after time.Time) {
	t.Helper()
	within(t, 4*time.Minute, "both groups read every partition", func() error {
		var behind []error
		for name, p := range f.watch {
			if silent := p.since(after); len(silent) > 0 {
				behind = append(behind, fmt.Errorf("%s: partitions %v are silent since the kill", name, silent))
			}
		}
		return errors.Join(behind...)
	})
}

// settled waits until every replica is in sync, and both groups read for some seconds more.
func (f *failover) settled(t *testing.T) {
	t.Helper()
	within(t, 2*time.Minute, "every replica is in sync", func() error {
		metadata, err := f.admin.Metadata(t.Context())
		if err != nil {
			return err
		}
		var behind []string
		metadata.Topics.EachPartition(func(p kadm.PartitionDetail) {
			if len(p.ISR) < 3 {
				behind = append(behind, fmt.Sprintf("%s/%d", p.Topic, p.Partition))
			}
		})
		if len(behind) > 0 {
			return fmt.Errorf("not in sync: %v", behind)
		}
		return nil
	})
	f.goOn(t, time.Now().Add(3*time.Second))
}

// noGaps expects that nothing is recorded as not counted.
func (w *scenario) noGaps(t *testing.T) {
	t.Helper()
	var gaps int
	if err := w.database.QueryRow(`SELECT count(*) FROM gaps`).Scan(&gaps); err != nil || gaps > 0 {
		t.Errorf("%d gaps, %v", gaps, err)
	}
}

// progress is how far a group has read or the log has grown, and for how long a partition
// stood still at most.
type progress struct {
	mu      sync.Mutex
	at      map[int32]int64
	moved   map[int32]time.Time
	silence map[int32]time.Duration // the longest of a partition since forget was called
}

func newProgress() *progress {
	return &progress{at: map[int32]int64{}, moved: map[int32]time.Time{}, silence: map[int32]time.Duration{}}
}

// reached records that a partition was read up to an offset.
func (p *progress) reached(partition int32, offset int64, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if offset <= p.at[partition] {
		return
	}
	if before, known := p.moved[partition]; known {
		p.silence[partition] = max(p.silence[partition], now.Sub(before))
	}
	p.at[partition], p.moved[partition] = offset, now
}

// since returns the partitions that were not read after a time.
func (p *progress) since(after time.Time) (silent []int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for partition := range int32(partitions) {
		if !p.moved[partition].After(after) {
			silent = append(silent, partition)
		}
	}
	return silent
}

// worst returns the longest silence of the partitions that are not left out.
func (p *progress) worst(leftOut ...int32) (longest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for partition, silence := range p.silence {
		if !slices.Contains(leftOut, partition) {
			longest = max(longest, silence)
		}
	}
	return longest
}

func (p *progress) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.silence)
}
