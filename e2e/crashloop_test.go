//go:build e2e

package e2e_test

import (
	"context"
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
)

var loops = flag.Int("faults.loops", 4, "how often TestCrashLoop kills and starts its third collector")

const (
	// healthySilence is for how long a partition may be silent that healthy collectors own
	// throughout. The goal is 3 s; the rest is for a machine that does other things too.
	healthySilence = 5 * time.Second
	// longAway is longer than the group waits for a lost member.
	longAway = 12 * time.Second
)

// TestCrashLoop kills a third collector with kill -9 every few seconds and starts it again
// at once, every fourth time only after the group has given it up. The partitions that the
// other two own throughout are read on, and everything is counted once.
func TestCrashLoop(t *testing.T) {
	t.Parallel() // it mostly waits
	l := layout{topic: "crash-loop", perSecond: 8000, spread: true}
	w := &scenario{kafka: kafkatest.Shared(t)}
	w.kafka.CreateTopic(t, l.topic, partitions)
	// Positions in the store show what was counted: with few commits a second they would
	// show the pauses between those.
	looping := w.addThree(t, l.topic, "commit: {interval: 200ms}")
	began := time.Now()
	end := l.pour(t, w.kafka.Addr)
	g := newGroup(t, w, l.topic)
	w.startCollectors(t)
	healthy := g.members(t)
	counted := newProgress()
	w.follow(t, counted)
	g.moves(t, g.offsets(t))
	counted.forget()
	lost := g.followOthers(t, healthy)
	random := rand.New(rand.NewPCG(seed, 11))
	for i := range *loops {
		looping.start(t)
		time.Sleep(time.Duration(3000+random.IntN(2000)) * time.Millisecond)
		looping.kill(t)
		if i%4 == 3 {
			time.Sleep(longAway)
		} else {
			time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond)
		}
	}
	if after := g.members(t); !slices.Equal(after, healthy) {
		t.Errorf("the healthy members are %v, and were %v", after, healthy)
	}
	g.moves(t, g.offsets(t))
	given := lost()
	end()
	want := readTopic(t, w.kafka.Addr, l.topic)
	w.matchesTopic(t, want, 2*time.Minute)
	w.noGaps(t)
	kept, others := counted.worst(given...), counted.worst()
	t.Logf("%d kills, %d samples counted once in %s; of %d partitions the looping collector had %v; the others were silent for %s at most, and any for %s",
		*loops, want.requests, time.Since(began).Round(time.Second), partitions, given, rounded(kept), rounded(others))
	if len(given) == 0 || len(given) == partitions {
		t.Fatalf("the looping collector had the partitions %v: want some of %d", given, partitions)
	}
	if kept > healthySilence {
		t.Errorf("a partition of a healthy collector was silent for %s, want at most %s", kept, healthySilence)
	}
}

// addThree is addDaemons, with a third collector that is not of the scenario's own.
func (w *scenario) addThree(t *testing.T, topic, settings string) (third *process) {
	t.Helper()
	url := w.startReporter(t)
	w.addCollectors(t, topic, []string{w.kafka.Addr}, url, settings)
	third = w.collectors[0]
	third.name = "looping"
	w.addCollectors(t, topic, []string{w.kafka.Addr}, url, settings)
	return third
}

// followOthers notes which partitions the group ever gives to members other than the
// healthy ones, until it is asked for them.
func (g *group) followOthers(t *testing.T, healthy []string) (given func() []int32) {
	ctx, cancel := context.WithCancel(t.Context())
	all := map[int32]bool{}
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			described, err := g.admin.DescribeGroups(ctx, g.name)
			if err != nil {
				continue
			}
			for _, m := range described[g.name].Members {
				assigned, ok := m.Assigned.AsConsumer()
				if !ok || slices.Contains(healthy, m.MemberID) {
					continue
				}
				for _, topic := range assigned.Topics {
					for _, partition := range topic.Partitions {
						all[partition] = true
					}
				}
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	end := func() { cancel(); watching.Wait() }
	t.Cleanup(end)
	return func() []int32 { end(); return slices.Sorted(maps.Keys(all)) }
}
