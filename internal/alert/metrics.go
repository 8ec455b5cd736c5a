package alert

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/metrics"
)

// measures are the metrics of one route.
type measures struct {
	attempts *prometheus.CounterVec
	outbox   prometheus.Counter
	seconds  prometheus.Histogram
}

func newMeasures(route string) *measures {
	labels := prometheus.Labels{"route": route}
	m := &measures{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "keyheat", Subsystem: "alert", Name: "attempts_total", ConstLabels: labels,
			Help: "Attempts to deliver a notification, by outcome.",
		}, []string{"outcome"}),
		outbox: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "keyheat", Subsystem: "alert", Name: "outbox_errors_total", ConstLabels: labels,
			Help: "Passes that failed to read or write the outbox and were retried.",
		}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "keyheat", Subsystem: "alert", Name: "attempt_seconds", ConstLabels: labels,
			Help:    "Time of an attempt, in seconds.",
			Buckets: []float64{.01, .03, .1, .3, 1, 3, 10},
		}),
	}
	for _, o := range []outcome{delivered, failed, dead} {
		m.attempts.WithLabelValues(string(o))
	}
	return m
}

func (m *measures) set() metrics.Set { return metrics.Set{m.attempts, m.outbox, m.seconds} }
