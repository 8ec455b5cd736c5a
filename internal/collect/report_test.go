package collect_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source"
)

// TestACollectorReportsItself: unknown values are nil, and never 0.
func TestACollectorReportsItself(t *testing.T) {
	t.Parallel()
	cfg := slow()
	cfg.Version = "v1.2.3"
	bubble(t, cfg, func(t *testing.T, c *collect.Collector, m *memory) {
		p := claim(t, c, "p")
		time.Sleep(11 * time.Second)
		synctest.Wait()
		s := m.statusOf(c.Writer())
		if s.Version != "v1.2.3" || s.State != "running" || s.Lag != nil || s.BadShare != nil || s.ClockOffset == nil || *s.ClockOffset != 0 || s.RefusedTables == nil || len(s.RefusedTables) != 0 {
			t.Errorf("before anything is read it reports %+v", s)
		}
		if err := p.Fold(t.Context(), source.Batch{Next: "1", Lag: 7}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if s := m.statusOf(c.Writer()); s.Lag == nil || *s.Lag != 7 {
			t.Errorf("with 7 messages behind it reports %+v", s)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if s := m.statusOf(c.Writer()); s.State != "failing" || s.Reason == "" {
			t.Errorf("when its partition stands still it reports %+v", s)
		}
		if err := p.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestACollectorReportsItsSource: a collector without anything to read is not running.
func TestACollectorReportsItsSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		c := newCollector(t, slow(), m)
		var present atomic.Bool
		c.WatchSource(func() []string {
			if present.Load() {
				return nil
			}
			return []string{"topic orders: it is missing"}
		})
		stop := running(t, c)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if s := m.statusOf(c.Writer()); s.State != "failing" || s.Reason != "topic orders: it is missing" || s.Lag != nil {
			t.Errorf("without a topic it reports %+v", s)
		}
		present.Store(true)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if s := m.statusOf(c.Writer()); s.State != "running" || s.Reason != "" {
			t.Errorf("with a topic it reports %+v", s)
		}
		must(t, stop())
	})
}
