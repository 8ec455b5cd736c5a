package publish

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/daemon"
)

type measures struct {
	*daemon.MetricSet
	written, failures prometheus.Counter
}

func newMeasures() measures {
	s := daemon.NewMetrics("cloudwatch_metrics", nil)
	return measures{
		MetricSet: s,
		written:   s.Counter("written_total", "Data that were written with PutMetricData."),
		failures:  s.Counter("failures_total", "Calls of PutMetricData that failed, after the SDK's own retries."),
	}
}
