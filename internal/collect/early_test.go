package collect_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source"
)

// fold folds a request on a key, at the time that it is of or later.
type fold func(key string, wcu int, late time.Duration)

func TestEarlyCommits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story  string
		change func(c *collect.Config)
		run    func(fold fold)
		want   int
	}{
		{
			story: "a key comes over the limit",
			run:   func(fold fold) { fold("k", 1001, 0) },
			want:  1,
		},
		{
			story: "it comes over the limit by many requests",
			run: func(fold fold) {
				for range 11 {
					fold("k", 100, 0)
				}
			},
			want: 1,
		},
		{
			story: "a key is at the limit, and others are hot together",
			run: func(fold fold) {
				fold("k", 1000, 0)
				for i := range 20 {
					fold(fmt.Sprint("k", i), 500, 0)
				}
			},
			want: 0,
		},
		{
			story: "a backlog is read",
			run:   func(fold fold) { fold("k", 1001, 11*time.Second) },
			want:  0,
		},
		{
			story: "a key is hot for minutes, and then once more after the pause that ends its finding",
			run: func(fold fold) {
				for range 300 {
					fold("k", 1001, 0)
					time.Sleep(time.Second)
				}
				time.Sleep(detect.ResolveSeconds * time.Second)
				fold("k", 1001, 0)
			},
			want: detect.HarmSeconds + 1,
		},
		{
			story: "another key comes over the limit ten times a second for a minute",
			run: func(fold fold) {
				for i := range 600 {
					fold(fmt.Sprint("k", i), 1001, 0)
					time.Sleep(100 * time.Millisecond)
				}
			},
			want: 61, // at once, and then each second, the last one with the rest
		},
		{
			story: "so many keys are hot that they are forgotten",
			run: func(fold fold) {
				for i := range 1025 {
					fold(fmt.Sprint("k", i), 1001, 0)
				}
				time.Sleep(2 * time.Second)
				fold("k1024", 1001, 0) // it is known
				time.Sleep(2 * time.Second)
				fold("k0", 1001, 0)
			},
			want: 4, // at once, a second later with the rest, and two
		},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			cfg := slow()
			cfg.EarlyCommit = time.Second
			if c.change != nil {
				c.change(&cfg)
			}
			live(t, cfg, func(t *testing.T, collector *collect.Collector, m *memory) {
				p, next := claim(t, collector, "p"), 0
				c.run(func(key string, wcu int, late time.Duration) {
					next++
					must(t, p.Fold(t.Context(), request(key, wcu, time.Now().Add(-late), next)))
					synctest.Wait()
				})
				time.Sleep(time.Second) // the last one may wait for it
				synctest.Wait()
				if got := len(m.stored()); got != c.want {
					t.Errorf("%d commits, want %d", got, c.want)
				}
				if got := int(metrics(t, collector)["keyheat_collect_early_commits_total"]); got != c.want {
					t.Errorf("%d early commits are counted, want %d", got, c.want)
				}
			})
		})
	}
}

// live runs a test in virtual time that begins at noon: requests may be of now.
func live(t *testing.T, cfg collect.Config, test func(t *testing.T, c *collect.Collector, m *memory)) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(noon))
		m := newMemory()
		c := newCollector(t, cfg, m)
		stop := running(t, c)
		test(t, c, m)
		must(t, stop())
	})
}

// request is a batch of one request.
func request(key string, wcu int, when time.Time, next int) source.Batch {
	m := source.Message{Time: when.UnixMilli(), Value: fmt.Appendf(nil, `{"ts":%d,"table":"orders","pk":%q,"op":"UpdateItem","wcu":%d}`, when.UnixMilli(), key, wcu)}
	return source.Batch{Messages: slices.Values([]source.Message{m}), Next: strconv.Itoa(next), Time: m.Time}
}

// TestAnEarlyCommitStandsForTheNext has an early commit in the middle of the interval:
// the next one comes an interval after it.
func TestAnEarlyCommitStandsForTheNext(t *testing.T) {
	t.Parallel()
	cfg := config()
	cfg.CommitInterval, cfg.EarlyCommit = 2*time.Second, time.Second
	live(t, cfg, func(t *testing.T, c *collect.Collector, m *memory) {
		p := claim(t, c, "p")
		commits := func(after time.Duration, want int) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if got := len(m.stored()); got != want {
				t.Errorf("%d commits, want %d", got, want)
			}
		}
		commits(1500*time.Millisecond, 0)
		must(t, p.Fold(t.Context(), request("k", 1001, time.Now(), 1)))
		commits(0, 1)
		must(t, p.Fold(t.Context(), request("k", 1, time.Now(), 2)))
		commits(1900*time.Millisecond, 1)
		commits(200*time.Millisecond, 2)
	})
}

// TestAProducerIsNotKeptWaiting: batches whose producer waits, one a second, are each stored within
// the time between early commits.
func TestAProducerIsNotKeptWaiting(t *testing.T) {
	t.Parallel()
	cfg := config()
	cfg.CommitInterval, cfg.EarlyCommit = time.Minute, 500*time.Millisecond
	live(t, cfg, func(t *testing.T, c *collect.Collector, m *memory) {
		p := claim(t, c, "p")
		for n := range 10 {
			b := request("k", 1, time.Now(), n+1)
			b.Outcome = &source.Outcome{}
			must(t, p.Fold(t.Context(), b))
			time.Sleep(500 * time.Millisecond)
			synctest.Wait()
			if got := len(m.stored()); got != n+1 {
				t.Fatalf("%d commits of %d batches", got, n+1)
			}
			time.Sleep(500 * time.Millisecond)
		}
	})
}
