package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// newRollup is a minute of a table with two keys, the hotter one at a load of write units.
func newRollup(t *testing.T, table string, begins time.Time, wcu sample.Milli, refused int64) store.Rollup {
	t.Helper()
	side := func(v sample.Milli) rollup.Side {
		return rollup.Side{Max: sampling.Interval{Value: v, Low: v, High: v}, Sum: v}
	}
	r := rollup.Rollup{
		Seconds: 60, Total: rollup.Total{Requests: 100, ThrottledRequests: refused, Load: sketch.Load{Write: wcu + 1000}},
		Keys: []rollup.Key{
			{Key: sample.KeyString("cool"), Seconds: 1, Write: side(1000)},
			{Key: sample.KeyString("hot"), Seconds: 1, Write: side(wcu)},
		},
	}
	body, err := r.MarshalBinary()
	must.Succeed(t, err)
	return store.Rollup{Target: sample.Target{Table: table}, Level: int64(rollup.Minute), Begins: begins, Body: body}
}

// shown are the metrics of what was found, as text.
func shown(t *testing.T, set *daemon.MetricSet) (all []string) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(set)
	families, err := registry.Gather()
	must.Succeed(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var values []string
			for _, l := range m.GetLabel() {
				if l.GetValue() != "" {
					values = append(values, l.GetValue())
				}
			}
			all = append(all, fmt.Sprintf("%s{%s} %.4g", strings.TrimPrefix(f.GetName(), "keyheat_report_"), strings.Join(values, ","), m.GetGauge().GetValue()))
		}
	}
	return all
}

func TestFoundMetrics(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	set := daemon.NewMetrics("report", nil)
	m := newFoundMeasures(set)
	see := func(want ...string) {
		t.Helper()
		if got := shown(t, set); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	see("unmeasured_tables{} 0")

	m.count([]store.IncidentCount{{State: "firing", Severity: "critical", Case: "hot_key", Incidents: 2}})
	if err := m.measure([]store.Rollup{
		newRollup(t, "orders", noon, 1_500_000, 25), newRollup(t, "orders", noon.Add(-time.Minute), 9_000_000, 0), // the older minute is late
		{Level: int64(rollup.TenSeconds), Target: sample.Target{Table: "others"}},
	}); err != nil {
		t.Fatal(err)
	}
	covered := detect.Table{Target: sample.Target{Table: "orders"}, CloudWatch: &detect.TableCloudWatch{Write: &detect.Figure{Value: 0.4}}}
	m.cover([]detect.Table{covered, {Target: sample.Target{Table: "unseen"}, CloudWatch: covered.CloudWatch}})
	see("coverage_ratio{write,orders} 0.4", "hottest_key_ratio{orders} 1.5", "incidents{hot_key,critical,firing} 2", "refused_ratio{orders} 0.25", "unmeasured_tables{} 0")

	m.count(nil)
	m.forget(noon.Add(6 * time.Minute))
	see("coverage_ratio{write,orders} 0.4", "hottest_key_ratio{orders} 1.5", "refused_ratio{orders} 0.25", "unmeasured_tables{} 0")
	m.forget(noon.Add(7 * time.Minute)) // unknown by now, and not zero
	see("unmeasured_tables{} 0")
}

// TestFoundMetricsAreBounded: the tables beyond the bound are counted.
func TestFoundMetricsAreBounded(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	set := daemon.NewMetrics("report", nil)
	m := newFoundMeasures(set)
	for i := range maxMeasuredTables + 7 {
		must.Succeed(t, m.measure([]store.Rollup{newRollup(t, fmt.Sprint("table ", i), noon, 1000, 0)}))
	}
	m.forget(noon)
	if got := shown(t, set); len(got) != 2*maxMeasuredTables+1 || got[len(got)-1] != "unmeasured_tables{} 7" {
		t.Errorf("%d metrics, the last %s", len(got), got[len(got)-1])
	}
	m.rest()
	if got := shown(t, set); len(got) != 1 {
		t.Errorf("a process that does not judge shows %q", got)
	}
}
