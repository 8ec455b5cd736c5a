package collect_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/internal/source"
)

// TestAWrongHostClockHoldsNothingBack: at the end of a log the watermark is the store's
// time, even if this host's clock is wrong, and readiness names the host.
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

// TestAProducerWhoseClockIsAheadIsRefused: its samples are compared with the store's clock,
// even if this host's clock is wrong, and move no watermark beyond the store's clock.
func TestAProducerWhoseClockIsAheadIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		producer, store time.Duration // ahead of this host's clock
		message         bool          // the message has the producer's time
		refused         bool
	}{
		{"55 minutes ahead, in its messages too", 55 * time.Minute, 0, true, true},
		{"55 minutes ahead, in messages without a time", 55 * time.Minute, 0, false, true},
		{"half a minute ahead", 30 * time.Second, 0, true, false},
		{"right, where this host is slow", 55 * time.Minute, 55 * time.Minute, true, false},
		{"ahead like this host", 0, -55 * time.Minute, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				m.clock = c.store
				collector := newCollector(t, config(), m)
				p := claim(t, collector, "p") // before Run has asked for the store's time
				stop := running(t, collector)
				b := at(time.Now().Add(c.producer), "1")
				if !c.message {
					b.Time, b.Messages = 0, untimed(b.Messages)
				}
				must(t, p.Fold(t.Context(), b))
				now := time.Now().Add(c.store)
				time.Sleep(time.Second)
				synctest.Wait()
				if l := counted(t, m); (l.bad["ahead_of_clock"] == 1) != c.refused || len(l.requests) == 1 == c.refused {
					t.Errorf("counted %+v, want it refused: %t", l, c.refused)
				}
				if at := m.watermark("p").Time; at.After(now) {
					t.Errorf("the watermark is %s, when it is %s", at, now)
				}
				ready := strings.Join(collector.Ready(), "; ")
				if strings.Contains(ready, "55m0s ahead of the database's clock") != c.refused {
					t.Errorf("readiness says %q", ready)
				}
				time.Sleep(2 * time.Minute)
				if ready := strings.Join(collector.Ready(), "; "); strings.Contains(ready, "of their producer") {
					t.Errorf("two minutes later readiness says %q", ready)
				}
				must(t, p.Release(t.Context()))
				must(t, stop())
			})
		})
	}
}
