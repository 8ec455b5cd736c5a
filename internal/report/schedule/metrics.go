package schedule

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/daemon"
)

// measures are the metrics of a Maker.
type measures struct {
	*daemon.MetricSet
	made   *prometheus.CounterVec
	failed prometheus.Counter
}

func newMeasures(all []Schedule) measures {
	s := daemon.NewMetrics("reports", nil)
	m := measures{
		MetricSet: s,
		made:      s.CounterVec("made_total", "Reports that this process stored, by schedule.", "schedule"),
		failed:    s.Counter("failures_total", "Attempts to make, store or file a report that failed; each is tried again."),
	}
	for _, of := range all {
		m.made.WithLabelValues(of.Name)
	}
	return m
}
