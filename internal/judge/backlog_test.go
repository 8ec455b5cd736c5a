package judge_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/store"
)

// closings is a store that counts the seconds that are written, and the incomplete ones.
type closings struct {
	*probe
	written, incomplete int
}

func (c *closings) Judge(ctx context.Context, l store.Lease, j store.Judgement) error {
	for _, w := range j.Windows {
		c.written++
		if !w.Complete {
			c.incomplete++
		}
	}
	return c.probe.Judge(ctx, l, j)
}

// TestABacklogInLittleMemory: a judge with little memory finds in a backlog the findings that
// one with much memory finds, and writes each second once, complete. The collectors' deltas
// differ in length.
func TestABacklogInLittleMemory(t *testing.T) {
	t.Parallel()
	for engine, url := range enginesFor(t) {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			start := begin()
			judged := func(keys int) outcome {
				s := open(t, url(t))
				backlog(t, s, start)
				config := quick()
				config.MaxKeys, config.Read = keys, store.ReadLimit{Deltas: 3}
				c := &closings{probe: &probe{Store: s}}
				j, err := judge.New(config, c, "judge", slog.New(slog.DiscardHandler))
				must(t, err)
				stop := goRun(t, j.Run)
				(&runner{probe: c.probe}).quiet(t)
				stop()
				equal(t, "seconds written", c.written, 120)
				equal(t, "incomplete seconds written", c.incomplete, 0)
				return left(t, s)
			}
			little, much := judged(400), judged(1<<20)
			complete := 0
			for _, w := range little.Windows {
				if strings.Contains(w, " true ") {
					complete++
				}
			}
			equal(t, "complete seconds", complete, 120)
			equal(t, "seconds", little.Windows, much.Windows)
			equal(t, "totals", little.Totals, much.Totals)
			equal(t, "history", little.History, much.History)
			equal(t, "notified", little.Notified, much.Notified)
			equal(t, "findings", len(much.Findings) > 0, true)
		})
	}
}

// backlog is two minutes of three collectors with twenty warm keys each, and half a minute
// of a key that is hot in all of them together.
func backlog(t *testing.T, s *store.Store, start time.Time) {
	t.Helper()
	for n, length := range []int{1, 2, 5} {
		c := collect(t, s, fmt.Sprint("collector-", n), n, start)
		for second := 0; second < 120; second += length {
			var all []load
			for at := second; at < second+length; at++ {
				for key := range 20 {
					all = append(all, load{at, fmt.Sprintf("warm-%d-%d", n, key), 110})
				}
				if at >= 30 && at < 60 {
					all = append(all, load{at, "hot", 400})
				}
			}
			c.commit(second+length, all...)
		}
	}
}
