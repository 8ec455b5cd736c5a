package collect_test

import (
	"fmt"
	"slices"
	"strconv"
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

// TestACollectorNamesLowerBounds: a table's loads are lower bounds while at least a hundredth of its
// samples have neither units nor a size.
func TestACollectorNamesLowerBounds(t *testing.T) {
	t.Parallel()
	bubble(t, slow(), func(t *testing.T, c *collect.Collector, m *memory) {
		p := claim(t, c, "p")
		next := 0
		fold := func(lines ...string) []string {
			var all []source.Message
			now := time.Now().UnixMilli()
			for _, line := range lines {
				all = append(all, source.Message{Time: now, Value: fmt.Appendf(nil, `{"ts":%d,"op":"PutItem",%s}`, now, line)})
			}
			next++
			must(t, p.Fold(t.Context(), source.Batch{Messages: slices.Values(all), Next: strconv.Itoa(next), Time: now}))
			time.Sleep(11 * time.Second)
			synctest.Wait()
			return m.statusOf(c.Writer()).LowerBounds
		}
		const sized, few = `"table":"sized","pk":"k","bytes":50000`, `"table":"few","pk":"k"`
		units := `"table":"few","pk":"k","wcu":1,"n":1000`
		if got := fold(sized, `"table":"orders","pk":"k","wcu":1,"n":99`, `"table":"orders","pk":"k"`, few, units); !slices.Equal(got, []string{"orders"}) {
			t.Errorf("lower bounds are %q, want those of orders", got)
		}
		time.Sleep(time.Minute)
		if got := fold(sized, units); got == nil || len(got) != 0 {
			t.Errorf("a minute later lower bounds are %q, want none", got)
		}
		must(t, p.Release(t.Context()))
	})
}
