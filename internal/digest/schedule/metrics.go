package schedule

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/metrics"
)

// measures are the metrics of a Maker.
type measures struct {
	made   *prometheus.CounterVec
	failed prometheus.Counter
}

func newMeasures(all []Schedule) *measures {
	m := &measures{
		made: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "keyheat", Subsystem: "reports", Name: "made_total",
			Help: "Reports that this process stored, by schedule.",
		}, []string{"schedule"}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "keyheat", Subsystem: "reports", Name: "failures_total",
			Help: "Attempts to make, store or file a report that failed; each is tried again.",
		}),
	}
	for _, s := range all {
		m.made.WithLabelValues(s.Name)
	}
	return m
}

func (m *measures) set() metrics.Set { return metrics.Set{m.made, m.failed} }
