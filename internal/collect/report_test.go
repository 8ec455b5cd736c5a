package collect_test

import (
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
