package judge

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

const (
	// maxMeasuredTables bounds the tables and indexes with metrics of their own. The first
	// ones keep theirs.
	maxMeasuredTables = 1000
	// measuredFor is how long after its end a minute counts as the present: later, a
	// table's load is unknown, and its metrics go.
	measuredFor = 5 * time.Minute
)

// foundMeasures are the metrics of what was found. No label is a key.
type foundMeasures struct {
	incidents                  *prometheus.GaugeVec
	hottest, refused, coverage *prometheus.GaugeVec
	unmeasured                 prometheus.Gauge
	// minutes are the beginnings of the measured minutes, and without the tables and
	// indexes beyond the bound, by the same.
	minutes, without map[sample.Target]time.Time
}

func newFoundMeasures(s *daemon.MetricSet) foundMeasures {
	table := func(name, help string, more ...string) *prometheus.GaugeVec {
		return s.GaugeVec(name, help, append([]string{"account", "region", "table", "index"}, more...)...)
	}
	return foundMeasures{
		incidents:  s.GaugeVec("incidents", "Open incidents, by state, severity and case.", "state", "severity", "case"),
		hottest:    table("hottest_key_ratio", "Highest second of any key in the newest minute, as a share of a partition's limit."),
		refused:    table("refused_ratio", "Share of requests that DynamoDB throttled in the newest minute."),
		coverage:   table("coverage_ratio", "Share of the load in CloudWatch that the samples show, by dimension (write or read).", "dimension"),
		unmeasured: s.Gauge("unmeasured_tables", "Tables and indexes without metrics of their own, because there are too many."),
		minutes:    make(map[sample.Target]time.Time), without: make(map[sample.Target]time.Time),
	}
}

// count shows the open incidents.
func (m *foundMeasures) count(all []store.IncidentCount) {
	m.incidents.Reset()
	for _, c := range all {
		m.incidents.WithLabelValues(c.State, c.Severity, c.Case).Set(float64(c.Incidents))
	}
}

// measure shows the minutes among written roll-ups.
func (m *foundMeasures) measure(written []store.Rollup) error {
	for _, row := range written {
		if rollup.Level(row.Level) != rollup.Minute || row.Begins.Before(m.minutes[row.Target]) || !m.admit(row.Target, row.Begins) {
			continue
		}
		var r rollup.Rollup
		if err := r.UnmarshalBinary(row.Body); err != nil {
			return fmt.Errorf("roll-up of %s: %w", row.Name(), err)
		}
		hottest := 0.0
		for i := range r.Keys {
			hottest = max(hottest, r.Keys[i].Utilization())
		}
		m.hottest.WithLabelValues(labels(row.Target)...).Set(hottest)
		m.refused.WithLabelValues(labels(row.Target)...).Set(detect.Ratio(float64(r.Total.ThrottledRequests), float64(r.Total.Requests)))
	}
	return nil
}

// admit reports whether a table or index has metrics, and notes its minute.
func (m *foundMeasures) admit(t sample.Target, begins time.Time) bool {
	if _, has := m.minutes[t]; !has && len(m.minutes) >= maxMeasuredTables {
		m.without[t] = begins
		return false
	}
	m.minutes[t] = begins
	return true
}

// cover shows the coverage of tables and indexes that are measured.
func (m *foundMeasures) cover(tables []detect.Table) {
	for i := range tables {
		t := &tables[i]
		if _, has := m.minutes[t.Target]; !has || t.CloudWatch == nil {
			continue
		}
		m.coverDimension(t.Target, "write", t.CloudWatch.Write)
		m.coverDimension(t.Target, "read", t.CloudWatch.Read)
	}
}

func (m *foundMeasures) coverDimension(t sample.Target, dimension string, share *detect.Figure) {
	values := append(labels(t), dimension)
	if share == nil {
		m.coverage.DeleteLabelValues(values...)
		return
	}
	m.coverage.WithLabelValues(values...).Set(share.Value)
}

// forget takes the metrics of tables and indexes away whose newest minute is old.
func (m *foundMeasures) forget(now time.Time) {
	old := now.Add(-measuredFor - rollup.Minute.Duration())
	for t, begins := range m.minutes {
		if begins.Before(old) {
			delete(m.minutes, t)
			m.hottest.DeleteLabelValues(labels(t)...)
			m.refused.DeleteLabelValues(labels(t)...)
			m.coverDimension(t, "write", nil)
			m.coverDimension(t, "read", nil)
		}
	}
	for t, begins := range m.without {
		if _, has := m.minutes[t]; has || begins.Before(old) {
			delete(m.without, t)
		}
	}
	m.unmeasured.Set(float64(len(m.without)))
}

// rest shows nothing: another process judges.
func (m *foundMeasures) rest() {
	m.count(nil)
	clear(m.minutes)
	clear(m.without)
	for _, of := range []*prometheus.GaugeVec{m.hottest, m.refused, m.coverage} {
		of.Reset()
	}
	m.unmeasured.Set(0)
}

// labels are the values of the labels of a table or index.
func labels(t sample.Target) []string { return []string{t.Account, t.Region, t.Table, t.Index} }
