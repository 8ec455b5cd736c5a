package kafka_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source/kafka"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/sinktest"
)

// coordinatorAway makes the coordinator refuse heartbeats and joins while the
// returned flag is set, as a broker does that is no coordinator any more.
func coordinatorAway(c *kfake.Cluster) *refusal {
	return coordinatorRefuses(c, notCoordinator)
}

const notCoordinator = 16

// refusal is a flag, with how many heartbeats and joins have come since the start.
type refusal struct {
	atomic.Bool
	asked atomic.Int64
}

// goesOn waits until the member has asked some more times.
func (r *refusal) goesOn(t *testing.T, times int64) {
	t.Helper()
	until := r.asked.Load() + times
	sinktest.Eventually(t, "heartbeats", func() bool { return r.asked.Load() >= until })
}

// coordinatorRefuses makes the coordinator answer heartbeats with an error, and refuse
// joins, while the returned flag is set.
func coordinatorRefuses(c *kfake.Cluster, heartbeats int16) *refusal {
	away := new(refusal)
	c.ControlKey(int16(kmsg.Heartbeat), func(q kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		away.asked.Add(1)
		r := q.ResponseKind().(*kmsg.HeartbeatResponse)
		r.ErrorCode = heartbeats
		return r, nil, away.Load()
	})
	c.ControlKey(int16(kmsg.JoinGroup), func(q kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		away.asked.Add(1)
		r := q.ResponseKind().(*kmsg.JoinGroupResponse)
		r.ErrorCode = notCoordinator
		return r, nil, away.Load()
	})
	return away
}

// TestAStartingCoordinatorIsNoWarning: a new cluster refuses the first joins. Only a
// coordinator that goes on refusing is a warning.
func TestAStartingCoordinatorIsNoWarning(t *testing.T) {
	t.Parallel()
	for refusals, warned := range map[int]bool{2: false, 12: true} {
		c := cluster(t, 1)
		c.ControlKey(int16(kmsg.JoinGroup), func(q kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			refusals--
			r := q.ResponseKind().(*kmsg.JoinGroupResponse)
			r.ErrorCode = notCoordinator
			return r, nil, refusals >= 0
		})
		var log bytes.Buffer
		k := kafka.New(config(c.ListenAddrs()), slog.New(slog.NewTextHandler(&log, nil)))
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = k.Run(ctx, sinktest.New()) })
		sinktest.Eventually(t, "a member", func() bool { return len(k.Ready()) == 0 })
		stop()
		running.Wait()
		if !strings.Contains(log.String(), "its coordinator is starting") || strings.Contains(log.String(), "level=WARN") != warned {
			t.Errorf("a warning is wanted: %v. The log:\n%s", warned, &log)
		}
	}
}

// TestReadingGoesOnWhileTheCoordinatorIsAway: the member keeps its id, its generation
// and its claims. It makes no new claim meanwhile: it cannot know that it may.
func TestReadingGoesOnWhileTheCoordinatorIsAway(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	away := coordinatorAway(c)
	p := producer(t, c.ListenAddrs())
	l := sinktest.New()
	cfg := config(c.ListenAddrs())
	run(t, cfg, l)
	produce(t, p, 0, 10)
	l.Expect(t, 10)
	member := c.GroupInfo("collectors").Members[0].MemberID
	away.Store(true)
	away.goesOn(t, 10)
	produce(t, p, 10, 20)
	l.Expect(t, 20)
	l.Steal(topic + "/0")
	var claims int
	l.With(func() { claims = l.Claims })
	produce(t, p, 20, 30)
	away.goesOn(t, 20)
	l.With(func() {
		if l.Claims != claims {
			t.Errorf("%d claims without a heartbeat that succeeded", l.Claims-claims)
		}
	})
	away.Store(false)
	l.Expect(t, 30)
	if g := c.GroupInfo("collectors"); g.Epoch != 1 || len(g.Members) != 1 || g.Members[0].MemberID != member {
		t.Errorf("after the outage the group is in generation %d with members %+v, want 1 with %s", g.Epoch, g.Members, member)
	}
}

// TestAMemberThatWasForgottenJoinsAgain: a coordinator that does not know the member
// any more ends its generation.
func TestAMemberThatWasForgottenJoinsAgain(t *testing.T) {
	t.Parallel()
	const unknownMember = 25
	c := cluster(t, 1)
	var forget atomic.Int32
	c.ControlKey(int16(kmsg.Heartbeat), func(q kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		r := q.ResponseKind().(*kmsg.HeartbeatResponse)
		r.ErrorCode = unknownMember
		return r, nil, forget.Add(-1) >= 0
	})
	p := producer(t, c.ListenAddrs())
	l := sinktest.New()
	run(t, config(c.ListenAddrs()), l)
	produce(t, p, 0, 10)
	l.Expect(t, 10)
	forget.Store(1)
	sinktest.Eventually(t, "another generation", func() bool { return c.GroupInfo("collectors").Epoch > 1 })
	produce(t, p, 10, 20)
	l.Expect(t, 20)
}

// TestTheGroupIsSharedWithOlderMembers: collectors of older versions are kafka-go's
// own consumer groups, and may lead the group or follow in it during an upgrade.
func TestTheGroupIsSharedWithOlderMembers(t *testing.T) {
	t.Parallel()
	for name, oldFirst := range map[string]bool{"the older leads": true, "the newer leads": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster(t, 4)
			produce(t, producer(t, c.ListenAddrs()), 0, 40)
			l := sinktest.New()
			assigned := make(chan int, 100)
			startOlder := func() {
				older, err := kafkago.NewConsumerGroup(kafkago.ConsumerGroupConfig{
					ID: "collectors", Brokers: c.ListenAddrs(), Topics: []string{topic},
					HeartbeatInterval: 50 * time.Millisecond, SessionTimeout: 20 * time.Second, RebalanceTimeout: 5 * time.Second,
				})
				must.Succeed(t, err)
				t.Cleanup(func() { _ = older.Close() })
				go func() {
					for {
						gen, err := older.Next(t.Context())
						if t.Context().Err() != nil {
							return
						}
						if err != nil {
							continue // it joins again
						}
						assigned <- len(gen.Assignments[topic])
					}
				}()
			}
			if oldFirst {
				startOlder()
				<-assigned
				run(t, config(c.ListenAddrs()), l)
			} else {
				run(t, config(c.ListenAddrs()), l)
				l.Expect(t, 40)
				startOlder()
			}
			sinktest.Eventually(t, "the older member has two of four partitions", func() bool {
				select {
				case n := <-assigned:
					return n == 2
				default:
					return false
				}
			})
			var ours int
			sinktest.Eventually(t, "the newer member has two", func() bool {
				l.With(func() { ours = len(l.Entries) })
				return ours >= 2
			})
			if oldFirst && ours != 2 {
				t.Errorf("the newer member has claimed %d partitions, want 2", ours)
			}
		})
	}
}

// TestReadingGoesOnWhileTheGroupIsShared: while a member waits for the others, one of them
// perhaps lost, it reads its former partitions, and claims them again if necessary.
// Partitions that it gets again are not claimed anew.
func TestReadingGoesOnWhileTheGroupIsShared(t *testing.T) {
	t.Parallel()
	const rebalancing = 27
	c := cluster(t, 2)
	sharing := coordinatorRefuses(c, rebalancing)
	p := producer(t, c.ListenAddrs())
	l := sinktest.New()
	run(t, config(c.ListenAddrs()), l)
	produce(t, p, 0, 10)
	l.Expect(t, 10)
	sharing.Store(true)
	sharing.goesOn(t, 5)
	produce(t, p, 10, 20)
	l.Expect(t, 20)
	l.Steal(topic + "/0")
	produce(t, p, 20, 30)
	l.Expect(t, 30)
	sharing.Store(false)
	sinktest.Eventually(t, "another generation", func() bool { return c.GroupInfo("collectors").Epoch > 1 })
	produce(t, p, 30, 40)
	l.Expect(t, 40)
	l.With(func() {
		if l.Claims != 3 {
			t.Errorf("%d claims, want one of each partition and one of the stolen one", l.Claims)
		}
	})
}

// ignoreLeaves keeps members in their group, as if they were killed.
func ignoreLeaves(c *kfake.Cluster) {
	c.ControlKey(int16(kmsg.LeaveGroup), func(q kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		return q.ResponseKind(), nil, true
	})
}

// TestAMemberThatIsStartedAgainHasItsPlace, with no new generation. It notices that the
// topic has grown meanwhile; as the group's leader it is the only member that can.
func TestAMemberThatIsStartedAgainHasItsPlace(t *testing.T) {
	t.Parallel()
	c := cluster(t, 2)
	ignoreLeaves(c)
	p := producer(t, c.ListenAddrs())
	l := sinktest.New()
	cfg := config(c.ListenAddrs())
	cfg.Instance = "host-0"
	_, stop := run(t, cfg, l)
	produce(t, p, 0, 10)
	l.Expect(t, 10)
	stop()
	produce(t, p, 10, 20)
	_, stop = run(t, cfg, l)
	l.Expect(t, 20)
	if g := c.GroupInfo("collectors"); g.Epoch != 1 || len(g.Members) != 1 {
		t.Errorf("the group is in generation %d with the members %+v, want 1 with one", g.Epoch, g.Members)
	}
	stop()
	if _, err := kadm.NewClient(p).UpdatePartitions(soon(t), 4, topic); err != nil {
		t.Fatal(err)
	}
	run(t, cfg, l)
	sinktest.Eventually(t, "the new partitions are read", func() (read bool) {
		l.With(func() { read = len(l.Entries) == 4 })
		return read
	})
}

// TestTwoMembersOfOneName: the first goes on without it, and does not take it back.
func TestTwoMembersOfOneName(t *testing.T) {
	t.Parallel()
	c := cluster(t, 4)
	p := producer(t, c.ListenAddrs())
	l := sinktest.New()
	cfg := config(c.ListenAddrs())
	cfg.Instance = "localhost"
	coordinator := coordinatorAway(c) // it never is
	run(t, cfg, l)
	produce(t, p, 0, 10)
	l.Expect(t, 10)
	run(t, cfg, l)
	sinktest.Eventually(t, "the group has both", func() bool {
		g := c.GroupInfo("collectors")
		return g.State == "Stable" && len(g.Members) == 2
	})
	settled := c.GroupInfo("collectors").Epoch
	produce(t, p, 10, 50)
	l.Expect(t, 50)
	coordinator.goesOn(t, 20)
	if now := c.GroupInfo("collectors").Epoch; now != settled {
		t.Errorf("the group goes on from generation %d to %d", settled, now)
	}
}

// keepPlaces has a member that is started again keep its former assignment, whatever it
// subscribes to now, as Kafka does: it compares the strategies only, and the fake the
// subscriptions too.
func keepPlaces(c *kfake.Cluster) {
	var mu sync.Mutex
	joined := map[string][]kmsg.JoinGroupRequestProtocol{}
	c.ControlKey(int16(kmsg.JoinGroup), func(q kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		if join := q.(*kmsg.JoinGroupRequest); join.InstanceID != nil {
			former := joined[*join.InstanceID]
			joined[*join.InstanceID] = join.Protocols
			if join.MemberID == "" && former != nil {
				join.Protocols = former
			}
		}
		return nil, nil, false
	})
}

// TestTopicsThatChangeWhileMembersAreAway: what is subscribed is read, and nothing else, although
// members that are back within their session get their former assignment.
func TestTopicsThatChangeWhileMembersAreAway(t *testing.T) {
	t.Parallel()
	const second, third = "second", "third"
	for name, topics := range map[string][]string{
		"one more": {topic, second}, "one less": {second}, "another one": {third}, "two others": {third, topic},
	} {
		for members := 1; members <= 2; members++ {
			t.Run(fmt.Sprint(name, " and ", members), func(t *testing.T) {
				t.Parallel()
				c := cluster(t, 2, kfake.SeedTopics(2, second, third))
				ignoreLeaves(c)
				keepPlaces(c)
				before := []string{topic, second}
				if name == "one more" {
					before = []string{topic}
				}
				l := sinktest.New()
				start := func(topics []string) (stops []func()) {
					for i := range members {
						cfg := config(c.ListenAddrs())
						cfg.Topics, cfg.Instance = topics, fmt.Sprint("host-", i)
						_, stop := run(t, cfg, l)
						stops = append(stops, stop)
					}
					return stops
				}
				read := func() (all []string) {
					l.With(func() { all = slices.Sorted(maps.Keys(l.Entries)) })
					return all
				}
				var want []string
				for _, topic := range before {
					want = append(want, topic+"/0", topic+"/1")
				}
				slices.Sort(want)
				stops := start(before)
				sinktest.Eventually(t, "the topics are read", func() bool { return slices.Equal(read(), want) })
				sinktest.Eventually(t, "the group is settled", func() bool {
					g := c.GroupInfo("collectors")
					return g.State == "Stable" && len(g.Members) == members
				})
				for _, stop := range stops {
					stop()
				}
				l.With(func() { clear(l.Entries) })
				start(topics)
				want = nil
				for _, topic := range topics {
					want = append(want, topic+"/0", topic+"/1")
				}
				slices.Sort(want)
				sinktest.Eventually(t, "the other topics are read, and those alone", func() bool { return slices.Equal(read(), want) })
			})
		}
	}
}
