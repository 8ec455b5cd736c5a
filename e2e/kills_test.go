//go:build e2e

package e2e_test

import (
	"errors"
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
	settledKills  = flag.Int("faults.kills", 2, "how many collectors TestKilledWhenSettled kills, in all groups together")
	settledGroups = flag.Int("faults.groups", 1, "how many groups, each with a store of its own, TestKilledWhenSettled shares its kills among")
)

// settledFor is how long a group that is whole again reads before the next kill.
const settledFor = 5 * time.Second

// TestKilledWhenSettled kills collectors of a group that is whole and reads: each kill has
// a generation of its own to take away, and a claim of each partition. (TestKilledCollectors
// kills faster than the group finds that a member is lost.)
func TestKilledWhenSettled(t *testing.T) {
	t.Parallel() // it mostly waits
	for i := range *settledGroups {
		kills := (*settledKills + i) / *settledGroups
		t.Run(fmt.Sprint("group ", i), func(t *testing.T) {
			t.Parallel()
			killWhenSettled(t, fmt.Sprint("settled-", i), kills, rand.New(rand.NewPCG(seed, uint64(100+i))))
		})
	}
}

func killWhenSettled(t *testing.T, topic string, kills int, random *rand.Rand) {
	l := layout{topic: topic, perSecond: 5000}
	w := newScenario(t, l.topic)
	began := time.Now()
	end := l.pour(t, w.kafka.Addr)
	g := newGroup(t, w, topic)
	w.startCollectors(t)
	g.settles(t, nil)
	var took []time.Duration
	for range kills {
		w.lagging(t, l.topic)
		before := g.members(t)
		c := w.collectors[random.IntN(len(w.collectors))]
		killed := time.Now()
		c.kill(t)
		time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
		c.start(t)
		took = append(took, g.settles(t, before).Sub(killed))
	}
	end()
	lasted := time.Since(began)
	want := readTopic(t, w.kafka.Addr, l.topic)
	w.matchesTopic(t, want, await.Limit)
	for _, f := range w.findings(t) {
		want.bounded(t, f)
	}
	w.noGaps(t)
	t.Logf("%d kills in %s, %d samples counted once, no gap; from a kill until every partition was read by the whole group again: %s",
		kills, lasted.Round(time.Second), want.requests, quantilesOf(took, func(d time.Duration) time.Duration { return d }))
}

// group is the collectors as Kafka sees them.
type group struct {
	*scenario
	name  string
	admin *kadm.Client
}

func newGroup(t *testing.T, w *scenario, name string) group {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(w.kafka.Addr))
	must.Succeed(t, err)
	t.Cleanup(client.Close)
	return group{scenario: w, name: name, admin: kadm.NewClient(client)}
}

// members returns the ids of a group that is not about to share its partitions anew.
func (g *group) members(t *testing.T) (ids []string) {
	t.Helper()
	within(t, await.Limit, "the group is stable", func() error {
		described, err := g.describe(t)
		ids = described
		return err
	})
	return ids
}

func (g *group) describe(t *testing.T) (ids []string, err error) {
	all, err := g.admin.DescribeGroups(t.Context(), g.name)
	if err != nil {
		return nil, err
	}
	described := all[g.name]
	if described.Err != nil {
		return nil, described.Err
	}
	for _, m := range described.Members {
		ids = append(ids, m.MemberID)
	}
	slices.Sort(ids)
	if described.State != "Stable" || len(ids) != len(g.collectors) {
		return nil, fmt.Errorf("the group is %s with the members %v", described.State, ids)
	}
	return ids, nil
}

// settles waits until the group is whole, with another member than before, and has then
// read every partition for a while; it returns when it had first read all of them.
func (g *group) settles(t *testing.T, before []string) (read time.Time) {
	t.Helper()
	within(t, await.Limit, "the group has a new member in the place of the lost one", func() error {
		ids, err := g.describe(t)
		if err == nil && slices.Equal(ids, before) {
			err = fmt.Errorf("it still has the members %v", ids)
		}
		return err
	})
	whole := g.offsets(t)
	g.moves(t, whole)
	read = time.Now()
	first := g.offsets(t)
	time.Sleep(settledFor)
	g.moves(t, first)
	return read
}

// moves waits until each partition's stored position is beyond what it was.
func (g *group) moves(t *testing.T, from map[int32]int64) {
	t.Helper()
	within(t, await.Limit, "every partition is read", func() error {
		now := g.offsets(t)
		var still []error
		for partition, offset := range now {
			if offset <= from[partition] {
				still = append(still, fmt.Errorf("%d is at %d", partition, offset))
			}
		}
		if len(now) < partitions {
			still = append(still, fmt.Errorf("%d partitions have a position", len(now)))
		}
		return errors.Join(still...)
	})
}

// offsets returns the stored positions.
func (w *scenario) offsets(t *testing.T) map[int32]int64 {
	t.Helper()
	all, err := w.positions(t.Context())
	must.Succeed(t, err)
	return all
}
