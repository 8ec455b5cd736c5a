package alert

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// health is what is wrong now. It is safe for use by many goroutines.
type health struct {
	mu    sync.Mutex
	cause string
}

// fail notes what is wrong, and says whether that is news.
func (h *health) fail(cause string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	news := h.cause != cause
	h.cause = cause
	return news
}

func (h *health) heal() { h.fail("") }

func (h *health) wrong() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cause
}

// metrics counts attempts. They belong to one route.
type metrics struct {
	attempts *prometheus.CounterVec
	outbox   prometheus.Counter
	seconds  prometheus.Histogram
}

func newMetrics(route string) *metrics {
	labels := prometheus.Labels{"route": route}
	m := &metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "keyheat", Subsystem: "alert", Name: "attempts_total", ConstLabels: labels,
			Help: "Attempts to deliver a notification, by what came of them.",
		}, []string{"outcome"}),
		outbox: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "keyheat", Subsystem: "alert", Name: "outbox_errors_total", ConstLabels: labels,
			Help: "Passes that the outbox failed; all are made again.",
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

// Describe implements prometheus.Collector.
func (w *Webhook) Describe(ch chan<- *prometheus.Desc) {
	w.metrics.attempts.Describe(ch)
	w.metrics.outbox.Describe(ch)
	w.metrics.seconds.Describe(ch)
}

// Collect implements prometheus.Collector.
func (w *Webhook) Collect(ch chan<- prometheus.Metric) {
	w.metrics.attempts.Collect(ch)
	w.metrics.outbox.Collect(ch)
	w.metrics.seconds.Collect(ch)
}
