package alert

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/store"
)

type measures struct {
	*daemon.MetricSet
	attempts *prometheus.CounterVec
	outbox   prometheus.Counter
	seconds  prometheus.Histogram
	failing, pending, oldest,
	succeeded prometheus.Gauge
}

func newMeasures(route string) measures {
	s := daemon.NewMetrics("alert", prometheus.Labels{"route": route})
	return measures{
		MetricSet: s,
		attempts: s.CounterVec("attempts_total", "Attempts to deliver a notification, by outcome.",
			"outcome", string(delivered), string(failed), string(dead), string(summarised)),
		outbox:  s.Counter("outbox_errors_total", "Passes that failed to read or write the outbox and were retried."),
		seconds: s.Histogram("attempt_seconds", "Time of an attempt, in seconds.", []float64{.01, .03, .1, .3, 1, 3, 10}),

		failing:   s.Gauge("failing", "1 while the newest attempt of the receiver, by any reporter, is a failure."),
		pending:   s.Gauge("pending", "Notifications that wait for the receiver."),
		oldest:    s.Gauge("oldest_pending_seconds", "Age of the oldest notification that waits, in seconds; 0 without one."),
		succeeded: s.Gauge("last_success_timestamp_seconds", "Time of the receiver's newest success, in seconds since 1970; 0 before the first."),
	}
}

func (m *measures) show(r *store.Receiver, now time.Time) {
	failing, age, succeeded := 0., 0., 0.
	if r.Failing() {
		failing = 1
	}
	if !r.Oldest.IsZero() {
		age = now.Sub(r.Oldest).Seconds()
	}
	if !r.Succeeded.IsZero() {
		succeeded = float64(r.Succeeded.Unix())
	}
	m.failing.Set(failing)
	m.pending.Set(float64(r.Pending))
	m.oldest.Set(age)
	m.succeeded.Set(succeeded)
}
