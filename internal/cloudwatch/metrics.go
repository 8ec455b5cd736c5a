package cloudwatch

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/metrics"
)

// measures are the metrics of a Reader.
type measures struct {
	reads     *prometheus.CounterVec
	requested prometheus.Counter
	spent     prometheus.Gauge
}

func newMeasures() *measures {
	m := &measures{
		reads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "keyheat", Subsystem: "cloudwatch", Name: "reads_total",
			Help: "Readings of a table or index, by what came of it.",
		}, []string{"state"}),
		requested: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "keyheat", Subsystem: "cloudwatch", Name: "metrics_requested_total",
			Help: "Metrics asked for with GetMetricData, which is what is paid.",
		}),
		spent: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "keyheat", Subsystem: "cloudwatch", Name: "month_cost_usd",
			Help: "What all reporters of the store have spent on GetMetricData in this month, in US dollars, by its usual price.",
		}),
	}
	for _, s := range []corroboration.State{corroboration.Read, corroboration.NoData, corroboration.Denied, corroboration.Failed} {
		m.reads.WithLabelValues(string(s))
	}
	return m
}

func (m *measures) set() metrics.Set { return metrics.Set{m.reads, m.requested, m.spent} }
