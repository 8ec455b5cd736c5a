package collect_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

func TestMain(m *testing.M) {
	warm()
	// The shared Postgres ends with the process, and not before.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/keyheat/keyheat/internal/testsupport/pgtest.(*watchdog).awaitEnd"))
}

// warm makes zstd's channels outside of any bubble of virtual time.
func warm() {
	d := sketch.NewDelta(small)
	body, err := d.MarshalBinary()
	if err == nil {
		err = d.UnmarshalBinary(body)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// schedules is how many random schedules a test tries; the environment may ask
// for more.
func schedules(t *testing.T, usual int) int {
	if n, err := strconv.Atoi(os.Getenv("KEYHEAT_SCHEDULES")); err == nil {
		return n
	}
	if testing.Short() {
		return usual / 10
	}
	return usual
}

func TestExactlyOnceUnderFaults(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range schedules(t, 2000) {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			m.took = 3 * time.Millisecond
			f := faulted(t, m, uint64(n), 30)
			for kind, times := range f.seen {
				seen[kind] += times
			}
		})
		if t.Failed() {
			t.Fatalf("schedule %d", n)
		}
	}
	for _, kind := range []string{"before", "after", "unreported", "lost", "steal", "odd", "early"} {
		if seen[kind] == 0 {
			t.Errorf("no schedule had %q", kind)
		}
	}
}

// testStore is the part of a store that a test uses.
type testStore interface {
	collect.Store
	readable
}

// faulted reads logs through a flaky store, and compares the stored samples with the
// written ones.
func faulted(t *testing.T, st testStore, n uint64, failures int) *flaky {
	rng := rand.New(rand.NewPCG(n, 1))
	logs, want := scripts(rng, 1+rng.IntN(4), 20+rng.IntN(60))
	f := newFlaky(st, rand.New(rand.NewPCG(n, 2)), rng.IntN(failures))
	c := newCollector(t, config(), f)
	stop := running(t, c)
	readAll(t, t.Context(), c, logs, rng)
	f.heal()
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	mustEnd(t, st, logs)
	mustEqual(t, counted(t, st), want)
	f.seen["early"] = int(metrics(t, c)["keyheat_collect_early_commits_total"])
	return f
}

// readAll reads every log to its end, side by side.
func readAll(t *testing.T, ctx context.Context, c *collect.Collector, logs []*script, rng *rand.Rand) {
	var wg sync.WaitGroup
	for _, s := range logs {
		r := &reader{script: s, sink: c, rng: rand.New(rand.NewPCG(rng.Uint64(), 3)), restless: 3, rest: 10 * time.Millisecond}
		wg.Go(func() {
			if err := r.run(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("read %s: %v", s.name, err)
			}
		})
	}
	wg.Wait()
}

func TestExactlyOnceOverKills(t *testing.T) {
	t.Parallel()
	for n := range schedules(t, 500) {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			m.took = 3 * time.Millisecond
			killed(t, m, uint64(n), 5)
		})
		if t.Failed() {
			t.Fatalf("schedule %d", n)
		}
	}
}

// killed reads logs with one collector after the other. Each but the last dies in the
// middle.
func killed(t *testing.T, st testStore, n uint64, kills int) {
	rng := rand.New(rand.NewPCG(n, 4))
	logs, want := scripts(rng, 1+rng.IntN(4), 60)
	for range kills {
		f := newFlaky(st, rand.New(rand.NewPCG(rng.Uint64(), 8)), 5)
		cfg := config()
		cfg.StopTimeout = 100 * time.Millisecond // the dead wait for nothing
		c := newCollector(t, cfg, f)
		stop := running(t, c)
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+rng.Int64N(150))*time.Millisecond)
		readUntilKilled(ctx, c, f, logs, rng)
		cancel()
		_ = stop() // it fails: nothing reaches the store
	}
	c := newCollector(t, config(), st)
	stop := running(t, c)
	readAll(t, t.Context(), c, logs, rng)
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	mustEnd(t, st, logs)
	mustEqual(t, counted(t, st), want)
}

func readUntilKilled(ctx context.Context, c *collect.Collector, f *flaky, logs []*script, rng *rand.Rand) {
	var wg sync.WaitGroup
	for _, s := range logs {
		r := &reader{script: s, sink: c, rng: rand.New(rand.NewPCG(rng.Uint64(), 5)), rest: 10 * time.Millisecond}
		wg.Go(func() { _ = r.run(ctx) })
	}
	<-ctx.Done()
	f.kill()
	wg.Wait()
}

func TestExactlyOnceBetweenThieves(t *testing.T) {
	t.Parallel()
	for n := range schedules(t, 500) {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			m.took = 3 * time.Millisecond
			stolen(t, m, uint64(n), 300*time.Millisecond)
		})
		if t.Failed() {
			t.Fatalf("schedule %d", n)
		}
	}
}

// stolen lets two collectors claim the same partitions from each other for a
// while. One then reads to the end.
func stolen(t *testing.T, st testStore, n uint64, quarrel time.Duration) {
	rng := rand.New(rand.NewPCG(n, 6))
	logs, want := scripts(rng, 1+rng.IntN(3), 60)
	a, b := newCollector(t, config(), st), newCollector(t, config(), st)
	stopA, stopB := running(t, a), running(t, b)
	ctx, cancel := context.WithTimeout(t.Context(), quarrel)
	defer cancel()
	second := rand.New(rand.NewPCG(n, 7))
	var wg sync.WaitGroup
	wg.Go(func() { readAll(t, ctx, a, logs, rng) })
	wg.Go(func() { readAll(t, ctx, b, logs, second) })
	wg.Wait()
	if err := stopB(); err != nil {
		t.Errorf("stop the second: %v", err)
	}
	readAll(t, t.Context(), a, logs, rng)
	if err := stopA(); err != nil {
		t.Errorf("stop the first: %v", err)
	}
	mustEnd(t, st, logs)
	mustEqual(t, counted(t, st), want)
}

func TestExactlyOnceOnSQL(t *testing.T) {
	t.Parallel()
	for _, engine := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"sqlite memory", func(*testing.T) string { return "sqlite::memory:" }},
		{"sqlite file", func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "keyheat.db") }},
		{"postgres", func(t *testing.T) string { return pgtest.Database(t) }},
	} {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			for n := range schedules(t, 3) + 1 {
				faulted(t, open(t, engine.url(t)), uint64(n), 30)
				killed(t, open(t, engine.url(t)), uint64(n), 3)
				stolen(t, open(t, engine.url(t)), uint64(n), 300*time.Millisecond)
			}
		})
	}
}

func open(t testing.TB, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return s
}
