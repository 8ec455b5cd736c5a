package report

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/metrics"
	"github.com/keyheat/keyheat/internal/report/fold"
	"github.com/keyheat/keyheat/store"
)

// measures are the metrics of what the judge does.
type measures struct {
	leader, openWindows, openKeys                       prometheus.Gauge
	deltas, windows, transitions, notifications, errors prometheus.Counter
	seconds                                             prometheus.Histogram
}

func newMeasures() *measures {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "keyheat", Subsystem: "report", Name: name, Help: help})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "keyheat", Subsystem: "report", Name: name, Help: help})
	}
	return &measures{
		leader:        gauge("leader", "1 while this process judges, 0 while it waits for the lease."),
		openWindows:   gauge("open_windows", "Seconds of tables and indexes that are open in memory."),
		openKeys:      gauge("open_keys", "Keys in the open seconds."),
		deltas:        counter("deltas_total", "Deltas that were read."),
		windows:       counter("windows_written_total", "Seconds written, again for late samples."),
		transitions:   counter("transitions_total", "State and severity changes of findings that were written."),
		notifications: counter("notifications_total", "Notifications put into the outbox."),
		errors:        counter("errors_total", "Passes that failed and were retried."),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "keyheat", Subsystem: "report", Name: "pass_seconds",
			Help:    "Time from reading the deltas to the stored judgement, in seconds.",
			Buckets: []float64{.003, .01, .03, .1, .3, 1, 3, 10},
		}),
	}
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

func (m *measures) set() metrics.Set {
	return metrics.Set{
		m.leader, m.openWindows, m.openKeys, m.deltas, m.windows, m.transitions, m.notifications, m.errors, m.seconds,
	}
}
