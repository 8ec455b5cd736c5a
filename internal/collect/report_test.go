package collect_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/store"
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
		must(t, p.Fold(t.Context(), source.Batch{Next: "1", Lag: 7}))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if s := m.statusOf(c.Writer()); s.Lag == nil || *s.Lag != 7 || s.Reading == nil || s.Reading.Read != 1 || len(s.Reading.Unread) != 0 {
			t.Errorf("with 7 messages behind it reports %+v", s)
		}
		must(t, p.Release(t.Context()))
	})
}

// sourceFaults is a source with faults.
type sourceFaults struct {
	daemon.Health
	subscribed, full []string
}

func (s *sourceFaults) Subscription() []string { return s.subscribed }
func (s *sourceFaults) FullUsers() []string    { return s.full }
func (s *sourceFaults) Ready() []string        { return s.Reasons() }
func (s *sourceFaults) Unread() []daemon.Fault { return s.Faults() }

// TestADeadPartitionIsUnknown: once a partition is silent, or its source says that it fails, its
// lag is unknown, in the report and in the metric, until it is read again.
func TestADeadPartitionIsUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		c := newCollector(t, slow(), m)
		var health sourceFaults
		c.WatchSource(&health)
		stop := running(t, c)
		alive, dead := claim(t, c, "alive"), claim(t, c, "dead")
		next := 0
		read := func(of ...source.Partition) {
			next++
			for _, p := range of {
				must(t, p.Fold(t.Context(), source.Batch{Next: strconv.Itoa(next), Lag: 3, End: true}))
			}
		}
		// step reads for 20 seconds, so that a report follows.
		step := func(of ...source.Partition) (store.WriterStatus, map[string]float64) {
			for range 20 {
				read(of...)
				time.Sleep(time.Second)
			}
			synctest.Wait()
			return m.statusOf(c.Writer()), metrics(t, c)
		}
		s, figures := step(alive, dead)
		if s.State != "running" || *s.Lag != 6 || s.Reading.Read != 2 || len(s.Reading.Unread) != 0 || figures["keyheat_collect_lag_messages"] != 6 || figures["keyheat_collect_unread_partitions"] != 0 {
			t.Errorf("while both are read it reports %+v, %+v", s, s.Reading)
		}
		last := time.Now().Add(-time.Second)
		s, figures = step(alive)
		want := &store.Reading{Read: 1, Unread: []store.Unread{{Source: "test", Name: "dead", Since: last}}}
		want.Last = s.Reading.Last
		if s.State != "failing" || !strings.Contains(s.Reason, "partition dead has not been read for") || s.Lag != nil || !reflect.DeepEqual(s.Reading, want) {
			t.Errorf("while one is silent it reports %+v, %+v, want %+v", s, s.Reading, want)
		}
		if !math.IsNaN(figures["keyheat_collect_lag_messages"]) || figures["keyheat_collect_unread_partitions"] != 1 {
			t.Errorf("while one is silent the metrics are %v", figures)
		}
		if s, _ = step(alive, dead); s.State != "running" || s.Lag == nil || s.Reading.Read != 2 || len(s.Reading.Unread) != 0 {
			t.Errorf("when it is read again it reports %+v, %+v", s, s.Reading)
		}
		failed := time.Now()
		health.Fail("topic orders", "it is missing")
		s, _ = step(alive, dead)
		want = &store.Reading{Read: 2, Unread: []store.Unread{{Name: "topic orders", Since: failed}}}
		want.Last = s.Reading.Last
		if s.State != "failing" || s.Lag != nil || !reflect.DeepEqual(s.Reading, want) {
			t.Errorf("without a topic it reports %+v, %+v, want %+v", s, s.Reading, want)
		}
		if since := time.Since(s.Reading.Last); since > 12*time.Second {
			t.Errorf("it read last %s ago", since)
		}
		last = time.Now().Add(-time.Second)
		if s, _ = step(); s.Reading.Read != 0 || !s.Reading.Last.Equal(last) {
			t.Errorf("when nothing is read it reports %+v, want the last batch at %s", s.Reading, last)
		}
		must(t, alive.Release(t.Context()))
		must(t, dead.Release(t.Context()))
		must(t, stop())
	})
}

// TestAPartitionThatNobodyReads is found by those who should read it together, whether anybody
// has ever claimed it or its reader is gone, and is read by another collector in the end.
func TestAPartitionThatNobodyReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		var collectors []*collect.Collector
		var stops []func() error
		for range 2 {
			cfg := slow()
			cfg.CommitInterval = 2 * time.Second
			c := newCollector(t, cfg, m)
			c.WatchSource(&sourceFaults{subscribed: []string{"p", "q", "r"}})
			collectors, stops = append(collectors, c), append(stops, running(t, c))
		}
		first, second := collectors[0], collectors[1]
		reads := map[source.Partition]bool{claim(t, first, "p"): true, claim(t, second, "q"): true}
		next := 0
		// after returns what the first collector reports after so many seconds of reading.
		after := func(seconds int) (unread []string) {
			for range seconds {
				next++
				for p := range reads {
					must(t, p.Fold(t.Context(), source.Batch{Next: strconv.Itoa(next), Time: time.Now().UnixMilli(), End: true}))
				}
				time.Sleep(time.Second)
			}
			synctest.Wait()
			for _, u := range m.statusOf(first.Writer()).Reading.Unread {
				unread = append(unread, u.Name)
			}
			return unread
		}
		if got := after(25); len(got) > 0 {
			t.Errorf("in the first seconds it reports %q as unread", got)
		}
		if got := after(15); !slices.Equal(got, []string{"r"}) || m.statusOf(first.Writer()).Lag == nil {
			t.Errorf("it reports %q as unread, want r, which nobody has claimed, and its own lag", got)
		}
		r := claim(t, second, "r")
		reads[r] = true
		if got := after(15); len(got) > 0 {
			t.Errorf("when all is read it reports %q as unread", got)
		}
		for p := range reads {
			if p != r {
				must(t, p.Release(t.Context()))
			}
		}
		must(t, stops[1]())
		clear(reads)
		if got := after(40); !slices.Equal(slices.Sorted(slices.Values(got)), []string{"p", "q", "r"}) {
			t.Errorf("when the readers are gone it reports %q as unread, want all", got)
		}
		must(t, stops[0]())
	})
}

// TestACollectorReportsItsSource: a collector without anything to read is not running.
func TestACollectorReportsItsSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		c := newCollector(t, slow(), m)
		var health sourceFaults
		health.Fail("topic orders", "it is missing")
		c.WatchSource(&health)
		stop := running(t, c)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if s := m.statusOf(c.Writer()); s.State != "failing" || s.Reason != "topic orders: it is missing" || s.Lag != nil {
			t.Errorf("without a topic it reports %+v", s)
		}
		health.Heal("topic orders")
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

// TestFullUsersAreReported: a collector that refuses a user's new producers says so, and is ready.
func TestFullUsersAreReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		c := newCollector(t, slow(), m)
		c.WatchSource(&sourceFaults{full: []string{"noisy"}})
		stop := running(t, c)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if s := m.statusOf(c.Writer()); s.State != "running" || s.Reading == nil || !slices.Equal(s.Reading.FullUsers, []string{"noisy"}) {
			t.Errorf("it reports %+v", s)
		}
		must(t, stop())
	})
}
