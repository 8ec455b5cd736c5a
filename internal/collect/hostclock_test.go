package collect_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/internal/source"
)

// TestAWrongHostClockHoldsNothingBack: at the end of a log the watermark is the
// store's time, whatever this host takes for it, and the host is named.
func TestAWrongHostClockHoldsNothingBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		ahead time.Duration // of the store's clock
		says  string
	}{
		{"slow by five minutes", 5 * time.Minute, "5m0s behind the database's"},
		{"fast by five minutes", -5 * time.Minute, "5m0s ahead of the database's"},
		{"right", 20 * time.Millisecond, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				m.clock = c.ahead
				collector := newCollector(t, config(), m)
				stop := running(t, collector)
				synctest.Wait()
				p := claim(t, collector, "p")
				read := time.Now()
				for _, b := range []source.Batch{{Next: "1", End: true}, {Next: "2", End: true, Read: read.UnixMilli()}} {
					must(t, p.Fold(t.Context(), b))
				}
				time.Sleep(11 * time.Second)
				synctest.Wait()
				want := read.Add(c.ahead - time.Second)
				if got := m.mark("p").Time; got.Sub(want).Abs() > time.Millisecond {
					t.Errorf("the watermark is %s, want %s", got, want)
				}
				ready := strings.Join(collector.Ready(), "; ")
				if c.says == "" && strings.Contains(ready, "clock") || !strings.Contains(ready, c.says) {
					t.Errorf("readiness says %q, want %q", ready, c.says)
				}
				if offset := m.statusOf(collector.Writer()).ClockOffset; offset == nil || *offset != -c.ahead {
					t.Errorf("it reports the offset %v, want %s", offset, -c.ahead)
				}
				must(t, p.Release(t.Context()))
				must(t, stop())
			})
		})
	}
}
