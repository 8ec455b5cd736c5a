package collect_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// bubble runs a test in virtual time with a collector that runs on a store in
// memory, and stops it in the end.
func bubble(t *testing.T, cfg collect.Config, test func(t *testing.T, c *collect.Collector, m *memory)) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		c := newCollector(t, cfg, m)
		stop := running(t, c)
		test(t, c, m)
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
}

// pass lets a bubble's time pass.
func pass(d time.Duration) { time.Sleep(d) }

func claim(t *testing.T, c *collect.Collector, name string) source.Partition {
	t.Helper()
	p, err := c.Claim(t.Context(), source.Claim{Partition: name, First: "0"})
	must(t, err)
	return p
}

func must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// at is a batch of one good sample of that time, up to a position.
func at(when time.Time, next string) source.Batch {
	m := source.Message{Time: when.UnixMilli(), Value: fmt.Appendf(nil, `{"ts":%d,"table":"orders","pk":"k","op":"UpdateItem","wcu":1}`, when.UnixMilli())}
	return source.Batch{Messages: slices.Values([]source.Message{m}), Next: next, Time: m.Time}
}

func TestPositionsOfAHandle(t *testing.T) {
	t.Parallel()
	bubble(t, config(), func(t *testing.T, c *collect.Collector, m *memory) {
		p := claim(t, c, "p")
		if p.Position() != "0" || p.CommittedPosition() != "" {
			t.Errorf("a new handle is at %q, committed %q", p.Position(), p.CommittedPosition())
		}
		must(t, p.Fold(t.Context(), at(noon, "7")))
		if p.Position() != "7" || p.CommittedPosition() != "" {
			t.Errorf("after a fold the handle is at %q, committed %q", p.Position(), p.CommittedPosition())
		}
		time.Sleep(time.Second)
		if p.CommittedPosition() != "7" || m.position("p").Next != "7" {
			t.Errorf("committed %q, stored %q, want 7", p.CommittedPosition(), m.position("p").Next)
		}
		must(t, p.Release(t.Context()))
	})
}

func TestReleaseStoresWhatIsFolded(t *testing.T) {
	t.Parallel()
	cfg := config()
	cfg.CommitInterval = time.Hour
	bubble(t, cfg, func(t *testing.T, c *collect.Collector, m *memory) {
		a, b := claim(t, c, "a"), claim(t, c, "b")
		must(t, a.Fold(t.Context(), at(noon, "1")))
		must(t, b.Fold(t.Context(), at(noon, "2")))
		must(t, a.Release(t.Context()))
		must(t, b.Release(t.Context()))
		if n := len(m.stored()); n != 1 {
			t.Errorf("%d commits for two releases, want the second to find everything stored", n)
		}
		if m.position("a").Next != "1" || m.position("b").Next != "2" {
			t.Errorf("stored %+v", m.positions)
		}
	})
}

func TestFencedHandlesClaimAgain(t *testing.T) {
	t.Parallel()
	bubble(t, config(), func(t *testing.T, c *collect.Collector, m *memory) {
		a, b := claim(t, c, "a"), claim(t, c, "b")
		must(t, a.Fold(t.Context(), at(noon, "1")))
		must(t, b.Fold(t.Context(), at(noon, "1")))
		if _, err := m.Claim(t.Context(), "thief", store.Claim{PartitionID: partitionID("a"), First: "0"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for name, call := range map[string]error{
			"fold": a.Fold(t.Context(), at(noon, "2")), "gap": b.Gap(t.Context(), sample.Gap{}),
			"release": b.Release(t.Context()), "the other's fold": b.Fold(t.Context(), at(noon, "2")),
		} {
			if !errors.Is(call, source.ErrReclaim) {
				t.Errorf("%s returns %v, want ErrReclaim", name, call)
			}
		}
		if again := claim(t, c, "b"); again.Position() != "0" {
			t.Errorf("the innocent partition is claimed again at %q, want 0", again.Position())
		}
		mustBeEmpty(t, m)
	})
}

// mustBeEmpty fails when a sample or a position is stored. The registers of
// distinct keys may be: they are sent again, and merging them changes nothing.
func mustBeEmpty(t *testing.T, m *memory) {
	t.Helper()
	if l := counted(t, m); len(l.requests) != 0 || len(l.bad) != 0 || len(l.gaps) != 0 {
		t.Errorf("something is counted: %+v", l)
	}
	for _, c := range m.stored() {
		if len(c.Moves) != 0 {
			t.Errorf("positions are moved: %+v", c.Moves)
		}
	}
}

func TestAFoldAfterItsContextCountsNothing(t *testing.T) {
	t.Parallel()
	bubble(t, config(), func(t *testing.T, c *collect.Collector, m *memory) {
		p := claim(t, c, "p")
		must(t, p.Fold(t.Context(), at(noon, "1")))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.Fold(ended, at(noon, "2")); !errors.Is(err, context.Canceled) || errors.Is(err, source.ErrReclaim) {
			t.Errorf("fold returns %v", err)
		}
		must(t, p.Release(t.Context())) // the handle is alive
		if got := counted(t, m).requests[second{"orders", noon.Unix()}]; got != 1 || m.position("p").Next != "1" {
			t.Errorf("%d samples up to %s, want 1 up to 1", got, m.position("p").Next)
		}
	})
}

func TestClaimingWithoutReleaseCountsOnce(t *testing.T) {
	t.Parallel()
	bubble(t, config(), func(t *testing.T, c *collect.Collector, m *memory) {
		old := claim(t, c, "p")
		must(t, old.Fold(t.Context(), at(noon, "1")))
		p := claim(t, c, "p")
		if err := old.Fold(t.Context(), at(noon, "2")); !errors.Is(err, source.ErrReclaim) {
			t.Errorf("the old handle returns %v", err)
		}
		must(t, p.Fold(t.Context(), at(noon, "1")))
		must(t, p.Release(t.Context()))
		if got := counted(t, m).requests[second{"orders", noon.Unix()}]; got != 1 {
			t.Errorf("%d samples counted, want 1", got)
		}
	})
}

func TestAReleaseThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	bubble(t, config(), func(t *testing.T, c *collect.Collector, m *memory) {
		a, b := claim(t, c, "a"), claim(t, c, "b")
		must(t, a.Fold(t.Context(), at(noon, "1")))
		must(t, b.Fold(t.Context(), at(noon, "1")))
		m.take(time.Minute) // the store hangs
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		if err := a.Release(ctx); !errors.Is(err, source.ErrReclaim) {
			t.Errorf("release returns %v", err)
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("release took %s", took)
		}
		m.take(0)
		if err := b.Fold(t.Context(), at(noon, "2")); !errors.Is(err, source.ErrReclaim) {
			t.Errorf("the other partition's fold returns %v", err)
		}
		time.Sleep(time.Minute)
		mustBeEmpty(t, m)
	})
}

func TestTheStoreIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		f := newFlaky(m, nil, 0)
		c := newCollector(t, config(), f)
		stop := running(t, c)
		p := claim(t, c, "p")
		time.Sleep(time.Second)
		must(t, p.Fold(t.Context(), at(noon, "1")))
		f.setAway(1 << 30)
		time.Sleep(time.Hour)
		if r := c.Ready(); !slices.ContainsFunc(r, func(s string) bool { return strings.HasPrefix(s, "commit: ") }) {
			t.Errorf("ready says %q while the store is away", r)
		}
		claimed := make(chan source.Partition)
		go func() { q, _ := c.Claim(t.Context(), source.Claim{Partition: "q", First: "0"}); claimed <- q }()
		time.Sleep(time.Hour)
		f.heal()
		q := <-claimed
		if q == nil {
			t.Fatal("claim failed where it should have waited")
		}
		time.Sleep(10 * time.Second)
		must(t, p.Fold(t.Context(), at(noon.Add(time.Second), "2"))) // the handle lived through it
		must(t, p.Release(t.Context()))
		must(t, q.Fold(t.Context(), at(noon.Add(time.Second), "1")))
		if r := c.Ready(); len(r) != 0 {
			t.Errorf("ready says %q when the store is back", r)
		}
		must(t, stop())
		if m.position("p").Next != "2" || !m.stopped[c.Writer()] {
			t.Errorf("stored up to %s, stopped: %v", m.position("p").Next, m.stopped)
		}
	})
}

func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		c := newCollector(t, config(), m)
		stop := running(t, c)
		must(t, claim(t, c, "p").Fold(t.Context(), at(noon, "1")))
		m.take(time.Hour)
		time.Sleep(time.Second)
		began := time.Now()
		if err := stop(); err == nil {
			t.Error("stop reports that everything is stored")
		}
		if took := time.Since(began); took > collect.Default().StopTimeout {
			t.Errorf("stop took %s", took)
		}
	})
}

func TestGapsAreStoredWithTheirMove(t *testing.T) {
	t.Parallel()
	bubble(t, config(), func(t *testing.T, c *collect.Collector, m *memory) {
		p := claim(t, c, "p")
		must(t, p.Gap(t.Context(), sample.Gap{From: "0", To: "9", Since: noon, Reason: "trimmed"}))
		must(t, p.Gap(t.Context(), sample.Gap{From: "9", To: "9", Reason: "ends early"}))
		must(t, p.Gap(t.Context(), sample.Gap{From: "9", To: "3", Reason: "recreated"}))
		if p.Position() != "3" {
			t.Errorf("position %q, want 3: the log was recreated", p.Position())
		}
		must(t, p.Release(t.Context()))
		commits := m.stored()
		if len(commits) != 1 || len(commits[0].Gaps) != 3 || len(commits[0].Moves) != 1 || commits[0].Moves[0].To != "3" {
			t.Fatalf("stored %+v", commits)
		}
		g := commits[0].Gaps[0]
		want := store.Gap{Gap: sample.Gap{Source: partitionID("p").Source, Partition: "p", From: "0", To: "9", Since: noon, Reason: "trimmed"}, Noticed: g.Noticed}
		if g != want || g.Noticed.IsZero() {
			t.Errorf("gap %+v\nwant %+v", g, want)
		}
	})
}

// lostReply stores the first commit and returns an error.
type lostReply struct {
	*memory
	done bool
}

func (u *lostReply) Commit(ctx context.Context, c store.Commit) error {
	err := u.memory.Commit(ctx, c)
	if !u.done && err == nil {
		u.done = true
		return store.ErrUnavailable
	}
	return err
}

func TestACommitThatHadGoneThroughIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		c := newCollector(t, config(), &lostReply{memory: m})
		stop := running(t, c)
		p := claim(t, c, "p")
		must(t, p.Fold(t.Context(), at(noon, "1")))
		time.Sleep(time.Second)
		if p.CommittedPosition() != "1" {
			t.Errorf("committed %q, want 1", p.CommittedPosition())
		}
		must(t, p.Release(t.Context()))
		must(t, stop())
	})
}

// TestAStoreThatWentBackIsReadAgain also where nothing new comes that would notice it.
func TestAStoreThatWentBackIsReadAgain(t *testing.T) {
	t.Parallel()
	bubble(t, config(), func(t *testing.T, c *collect.Collector, m *memory) {
		p := claim(t, c, "p")
		must(t, p.Fold(t.Context(), at(noon, "1")))
		time.Sleep(time.Second)
		m.goBack()
		time.Sleep(time.Second) // no sample comes
		if err := p.Fold(t.Context(), source.Batch{Next: "1"}); !errors.Is(err, source.ErrReclaim) {
			t.Fatalf("a fold after the store went back returns %v, want ErrReclaim", err)
		}
		p = claim(t, c, "p")
		if p.Position() != "0" {
			t.Fatalf("it is claimed again at %q, want what the store has, 0", p.Position())
		}
		must(t, p.Fold(t.Context(), at(noon, "1")))
		must(t, p.Release(t.Context()))
		if l := counted(t, m); len(l.requests) != 1 || l.requests[second{"orders", noon.Unix()}] != 1 {
			t.Errorf("%+v are counted, want one sample", l.requests)
		}
	})
}
