package collect_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// samples are messages of now, one for each line.
func samples(lines ...string) source.Batch {
	var all []source.Message
	for _, line := range lines {
		all = append(all, source.Message{Value: []byte(line), Time: noon.UnixMilli()})
	}
	return source.Batch{Messages: slices.Values(all), Next: fmt.Sprint(len(lines)), Time: noon.UnixMilli()}
}

func TestBadSamplesAreCountedAndNeverShown(t *testing.T) {
	t.Parallel()
	st := open(t, "sqlite::memory:")
	c := newCollector(t, config(), st)
	stop := running(t, c)
	p := claim(t, c, "p")
	good := `{"table":"orders","pk":"secret","op":"UpdateItem","wcu":1}`
	must(t, p.Fold(t.Context(), samples(
		good, `{"table":"orders","pk":"secret","wcu":-1}`, `{"table":"orders","pk":"secret","wcu":-2}`, `{"pk":"secret"`,
		fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"secret","wcu":1}`, noon.Add(-time.Hour).UnixMilli()),
		fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"secret","wcu":1}`, noon.Add(time.Hour).UnixMilli()),
		``)))
	must(t, p.Release(t.Context()))
	must(t, stop())
	rows, err := st.BadSamples(t.Context(), store.BadQuery{Source: "test"})
	must(t, err)
	counts, excerpts := map[string]int64{}, map[string][]sample.Text{}
	for _, b := range rows {
		counts[b.Reason] += b.Count
		excerpts[b.Reason] = b.Excerpts
		if strings.Contains(fmt.Sprint(b.Excerpts), "secret") {
			t.Errorf("%s shows a key: %q", b.Reason, b.Excerpts)
		}
	}
	want := map[string]int64{"bad_units": 2, "syntax": 1, "too_old": 1, "too_far_ahead": 1, "empty": 1}
	if fmt.Sprint(counts) != fmt.Sprint(want) {
		t.Errorf("counted %v, want %v", counts, want)
	}
	if got := excerpts["bad_units"]; !slices.Equal(got, []sample.Text{`{"table":"<6>","pk":"<6>","wcu":-0}`, `{"table":"<6>","pk":"<6>","wcu":-0}`}) {
		t.Errorf("excerpts %q", got)
	}
	if got := excerpts["too_old"]; !slices.Equal(got, []sample.Text{"its time is -3600.000 s from its message's"}) {
		t.Errorf("excerpts %q", got)
	}
}

func TestEventTimeBoundsAreInclusive(t *testing.T) {
	t.Parallel()
	const tooOld, tooFarAhead = 10 * time.Minute, time.Minute
	bubble(t, config(), func(t *testing.T, c *collect.Collector, m *memory) {
		p := claim(t, c, "p")
		for i, off := range []time.Duration{
			-tooOld, -tooOld - time.Millisecond,
			tooFarAhead, tooFarAhead + time.Millisecond,
		} {
			b := samples(fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"k","wcu":1}`, noon.Add(off).UnixMilli()))
			b.Next = fmt.Sprint(i + 1)
			must(t, p.Fold(t.Context(), b))
		}
		must(t, p.Release(t.Context()))
		l := counted(t, m)
		if len(l.requests) != 2 || l.bad["too_old"] != 1 || l.bad["too_far_ahead"] != 1 {
			t.Errorf("counted %+v", l)
		}
	})
}

// TestAScatteredMessageIsBounded: each sample of a message has its own second, and the
// message has no time to bound them. As many samples count as fit, and the next message
// counts again.
func TestAScatteredMessageIsBounded(t *testing.T) {
	t.Parallel()
	cfg := config()
	cfg.PendingBytes = 1 << 20
	cfg.Sketch = sketch.Config{Sets: 8, CounterBytes: 4096}
	bubble(t, cfg, func(t *testing.T, c *collect.Collector, m *memory) {
		const lines = 300_000
		p := claim(t, c, "p")
		var b bytes.Buffer
		for i := range int64(lines) {
			fmt.Fprintf(&b, `{"ts":%d,"table":"orders","pk":"k","wcu":1}`+"\n", noon.UnixMilli()-2000*i)
		}
		scattered := samples("")
		scattered.Messages = slices.Values([]source.Message{{Value: b.Bytes()}})
		must(t, p.Fold(t.Context(), scattered))
		next := samples(`{"table":"orders","pk":"other","wcu":1}`)
		next.Next = "2"
		must(t, p.Fold(t.Context(), next))
		must(t, p.Release(t.Context()))
		l := counted(t, m)
		if bad := l.bad["too_scattered"]; bad < 10_000 || bad > 250_000 || int64(len(l.requests))+bad < lines {
			t.Errorf("of %d samples %d are refused, and %d seconds are counted", lines, bad, len(l.requests))
		}
	})
}

func TestTooManyTablesAreBadSamples(t *testing.T) {
	t.Parallel()
	cfg := config()
	cfg.Sketch = sketch.Config{Sets: 8, CounterBytes: 4096, Tables: 2}
	bubble(t, cfg, func(t *testing.T, c *collect.Collector, m *memory) {
		p := claim(t, c, "p")
		var lines []string
		for i := range 5 {
			lines = append(lines, fmt.Sprintf(`{"table":"orders%d","pk":"k","wcu":1}`, i))
		}
		must(t, p.Fold(t.Context(), samples(lines...)))
		must(t, p.Release(t.Context()))
		if l := counted(t, m); len(l.requests) != 2 || l.bad["too_many_tables"] != 3 {
			t.Errorf("counted %+v", l)
		}
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if s := m.statusOf(c.Writer()); !slices.Equal(s.RefusedTables, []string{"orders2", "orders3", "orders4"}) || s.State != "failing" || !strings.Contains(s.Reason, `such as "orders2"`) {
			t.Errorf("with three tables too many it reports %+v", s)
		}
		// The two that had room are not counted any more: others have it now.
		p = claim(t, c, "p")
		must(t, p.Fold(t.Context(), samples(`{"table":"orders3","pk":"k","wcu":1}`)))
		must(t, p.Release(t.Context()))
		if l := counted(t, m); len(l.requests) != 3 || l.bad["too_many_tables"] != 3 {
			t.Errorf("after the next commit counted %+v", l)
		}
		time.Sleep(90 * time.Second)
		synctest.Wait()
		if s := m.statusOf(c.Writer()); len(s.RefusedTables) != 0 || s.State != "running" {
			t.Errorf("a minute later it reports %+v", s)
		}
	})
}

// TestRepeatedIDsCountOnce holds that a sample that a log delivers twice counts once while its
// partition is claimed, and that items of one call are no repetition.
func TestRepeatedIDsCountOnce(t *testing.T) {
	t.Parallel()
	bubble(t, config(), func(t *testing.T, c *collect.Collector, m *memory) {
		p := claim(t, c, "p")
		line := `{"table":"orders","pk":"k","wcu":1,"id":"r-1"}`
		must(t, p.Fold(t.Context(), samples(line, line, `{"table":"orders","pk":"j","wcu":1,"id":"r-1"}`, `{"table":"orders","pk":"k","wcu":1}`, `{"table":"orders","pk":"k","wcu":1}`)))
		must(t, p.Release(t.Context()))
		if l := counted(t, m); l.bad["duplicate"] != 1 {
			t.Errorf("counted %+v", l)
		}
	})
}

func TestMetricsCountWhatIsStored(t *testing.T) {
	t.Parallel()
	bubble(t, slow(), func(t *testing.T, c *collect.Collector, _ *memory) {
		p := claim(t, c, "p")
		b := samples(`{"table":"orders","pk":"k","wcu":1}`, `rubbish`)
		b.Lag = 7
		must(t, p.Fold(t.Context(), b))
		must(t, p.Gap(t.Context(), sample.Gap{From: "2", To: "3", Reason: "trimmed"}))
		expect := func(want map[string]float64) {
			t.Helper()
			got := metrics(t, c)
			for name, value := range want {
				if got["keyheat_collect_"+name] != value {
					t.Errorf("%s is %v, want %v", name, got["keyheat_collect_"+name], value)
				}
			}
		}
		expect(map[string]float64{"samples_total": 0, "bad_samples_total": 0, "gaps_total": 0, "lag_messages": 7, "partitions": 1})
		q := claim(t, c, "q") // its release commits for all
		must(t, q.Fold(t.Context(), source.Batch{Next: "1"}))
		must(t, q.Release(t.Context()))
		expect(map[string]float64{"samples_total": 1, "bad_samples_total": 1, "gaps_total": 1, "commits_total": 1,
			"partitions": 1, "discarded_samples_total": 0, "fenced_total": 0})
	})
}

// metrics are the sums of all metrics by name.
func metrics(t *testing.T, c *collect.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	must(t, registry.Register(c))
	families, err := registry.Gather()
	must(t, err)
	all := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			all[f.GetName()] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return all
}

// TestKnownTablesOutlastAFlood: a topic has samples of many more tables than there is room for. The
// tables in the settings, and the oldest ones of the store, are counted whole beside it, although
// they come last. What is refused is logged by the hash of its table, with the setting that helps.
func TestKnownTablesOutlastAFlood(t *testing.T) {
	t.Parallel()
	cfg := config()
	cfg.Shards = 1
	cfg.Sketch = sketch.Config{Sets: 8, CounterBytes: 4096, Tables: 8}
	cfg.Tables = []sample.Target{{Table: "configured"}}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m := newMemory()
		m.targets = []sample.Target{{Table: "oldest"}, {Table: "orders", Index: "by-status"}}
		c := collect.New(cfg, m, seed, slog.New(slog.NewTextHandler(&log, nil)))
		stop := running(t, c)
		synctest.Wait()
		flood, other := claim(t, c, "flood/0"), claim(t, c, "samples/0")
		for round := range 10 {
			var lines []string
			for i := range 50 {
				lines = append(lines, fmt.Sprintf(`{"table":"new%d-%d","pk":"k","wcu":1}`, round, i))
			}
			b := samples(lines...)
			b.Next = fmt.Sprint(round + 1)
			must(t, flood.Fold(t.Context(), b))
			b = samples(`{"table":"configured","pk":"k","wcu":1}`, `{"table":"oldest","pk":"k","wcu":1}`, `{"table":"orders","index":"by-status","pk":"k","rcu":1}`)
			b.Next = fmt.Sprint(round + 1)
			must(t, other.Fold(t.Context(), b))
			time.Sleep(time.Second)
			synctest.Wait()
		}
		must(t, flood.Release(t.Context()))
		must(t, other.Release(t.Context()))
		must(t, stop())
		requests := map[string]int64{}
		for at, n := range counted(t, m).requests {
			requests[at.table] += n
		}
		for _, table := range []string{"configured", "oldest", "orders"} {
			if requests[table] != 10 {
				t.Errorf("%d samples of %s are counted, want 10", requests[table], table)
			}
		}
		if text := log.String(); !strings.Contains(text, "collect.tables") || !strings.Contains(text, "from=flood table_hash=") || strings.Contains(text, "new0-") {
			t.Errorf("the log says\n%s", text)
		}
	})
}
