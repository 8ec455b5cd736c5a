package push

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/daemon"
)

type meters struct {
	*daemon.MetricSet
	responses, spans *prometheus.CounterVec
}

func newMeters(s *Source) *meters {
	set := daemon.NewMetrics("http", nil)
	set.GaugeFunc("waiting_batches", "Batches that wait for their commit.", func() float64 { return float64(len(s.slots)) })
	return &meters{MetricSet: set, responses: set.CounterVec("responses_total", "Responses to batches, by their status.", "code"),
		spans: set.CounterVec("spans_total", "Spans stored: with a key, without one (caller) or rejected.", "kind")}
}
