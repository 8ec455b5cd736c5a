package judge

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/store"
)

// measures are the judge's metrics.
type measures struct {
	*daemon.MetricSet
	leader, openWindows, openKeys, unreadable           prometheus.Gauge
	deltas, windows, transitions, notifications, errors prometheus.Counter
	conflicts, evictedKeys                              prometheus.Counter
	seconds                                             prometheus.Histogram
	maps                                                *prometheus.GaugeVec
	forecasts                                           *prometheus.CounterVec
	partitions, contradictions, full, sampleAge         prometheus.Gauge
	found                                               foundMeasures
}

func newMeasures() measures {
	s := daemon.NewMetrics("report", nil)
	m := measures{
		MetricSet:      s,
		found:          newFoundMeasures(s),
		leader:         s.Gauge("leader", "1 while this process judges, 0 while it waits for the lease."),
		openWindows:    s.Gauge("open_windows", "Seconds of tables and indexes that are open in memory."),
		openKeys:       s.Gauge("open_keys", "Keys in the open seconds."),
		unreadable:     s.Gauge("unreadable_silences", "Active silences that cannot be read, so they silence nothing."),
		evictedKeys:    s.Counter("evicted_keys_total", "Keys near a limit that the judge stopped following for want of judge.memory."),
		full:           s.Gauge("tables_full", "1 while judge.memory has no room for the key design of more tables, else 0."),
		deltas:         s.Counter("deltas_total", "Deltas that were read."),
		windows:        s.Counter("windows_written_total", "Seconds written, again for late samples."),
		transitions:    s.Counter("transitions_total", "State and severity changes of findings that were written."),
		notifications:  s.Counter("notifications_total", "Notifications put into the outbox."),
		conflicts:      s.Counter("notification_conflicts_total", "Notifications lost because the outbox held others with their IDs."),
		errors:         s.Counter("errors_total", "Passes that failed and were retried."),
		maps:           s.GaugeVec("partition_maps", "Tables with a map of their partitions, by how far it can be trusted.", "state"),
		forecasts:      s.CounterVec("split_forecasts_total", "Forecasts of splits of partitions, by the rule that was right: median, middle, both or neither.", "outcome"),
		partitions:     s.Gauge("partitions", "Partitions of all tables with a map."),
		sampleAge:      s.Gauge("sample_age_seconds", "Counted time since the newest sample of any table; NaN while that is unknown."),
		contradictions: s.Gauge("partition_contradictions", "Keys that contradict the maps of partitions; at most 16 of a table."),
		seconds: s.Histogram("pass_seconds", "Time from reading the deltas to the stored judgement, in seconds.",
			[]float64{.003, .01, .03, .1, .3, 1, 3, 10}),
	}
	m.sampleAge.Set(math.NaN())
	return m
}

// rest shows that this process does not judge.
func (m *measures) rest() {
	m.leader.Set(0)
	m.unreadable.Set(0)
	m.maps.Reset()
	m.forecasts.Reset()
	m.partitions.Set(0)
	m.contradictions.Set(0)
	m.full.Set(0)
	m.sampleAge.Set(math.NaN())
	m.found.rest()
}

// age shows how long nothing was counted.
func (m *measures) age(newest, counted time.Time) {
	m.sampleAge.Set(math.NaN())
	if !newest.IsZero() && !counted.IsZero() {
		m.sampleAge.Set(max(0, counted.Sub(newest).Seconds()))
	}
}

// know counts the maps of partitions.
func (m *measures) know(p *partitions, now time.Time) {
	m.maps.Reset()
	m.forecasts.Reset() // the maps keep all splits
	known, wrong := 0, 0
	for _, t := range p.tables {
		m.maps.WithLabelValues(string(t.State(now))).Inc()
		for _, s := range t.Splits() {
			if s.Outcome != "" {
				m.forecasts.WithLabelValues(string(s.Outcome)).Inc()
			}
		}
		known, wrong = known+len(t.Shards()), wrong+len(t.Contradictions(now))
	}
	m.partitions.Set(float64(known))
	m.contradictions.Set(float64(wrong))
}

func (m *measures) pass(l *fold.Windows, deltas int, took time.Duration, err error) {
	m.openWindows.Set(float64(l.Len()))
	m.openKeys.Set(float64(l.Keys))
	m.deltas.Add(float64(deltas))
	if err == nil {
		m.seconds.Observe(took.Seconds())
	}
}

func (m *measures) wrote(j store.Judgement) {
	m.windows.Add(float64(len(j.Windows)))
	m.transitions.Add(float64(len(j.Transitions)))
	m.notifications.Add(float64(len(j.Notifications)))
}
