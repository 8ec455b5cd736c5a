package cloudwatch

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/daemon"
)

type measures struct {
	*daemon.MetricSet
	reads     *prometheus.CounterVec
	requested prometheus.Counter
	spent     prometheus.Gauge
}

func newMeasures() measures {
	s := daemon.NewMetrics("cloudwatch", nil)
	return measures{
		MetricSet: s,
		reads: s.CounterVec("reads_total", "Readings of a table or index, by result.", "state",
			string(corroboration.Read), string(corroboration.NoData), string(corroboration.Denied), string(corroboration.Failed)),
		requested: s.Counter("metrics_requested_total", "Metrics requested with GetMetricData: AWS bills each."),
		spent:     s.Gauge("month_cost_usd", "Cost of GetMetricData in this month, of all reporters of the store, in US dollars at the usual price."),
	}
}
