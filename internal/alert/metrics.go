package alert

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/metrics"
)

// measures are the metrics of one route.
type measures struct {
	*metrics.Set
	attempts *prometheus.CounterVec
	outbox   prometheus.Counter
	seconds  prometheus.Histogram
}

func newMeasures(route string) measures {
	s := metrics.New("alert", prometheus.Labels{"route": route})
	return measures{
		Set: s,
		attempts: s.CounterVec("attempts_total", "Attempts to deliver a notification, by outcome.",
			"outcome", string(delivered), string(failed), string(dead), string(summarised)),
		outbox:  s.Counter("outbox_errors_total", "Passes that failed to read or write the outbox and were retried."),
		seconds: s.Histogram("attempt_seconds", "Time of an attempt, in seconds.", []float64{.01, .03, .1, .3, 1, 3, 10}),
	}
}
