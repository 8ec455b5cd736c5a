package shards

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/metrics"
)

// Kinds of failures, the values of the errors' label.
const (
	failureRegistry  = "ledger"
	failureDiscovery = "discovery"
	failureChildren  = "children"
	failureExpired   = "expired_iterator"
	failureRecords   = "records"
	failureThrottled = "throttled"
	failureReclaim   = "reclaim"
	failureSink      = "sink"
	failureRelease   = "release"
)

// meters counts what a source reads. It is embedded, so that whoever owns the
// registry registers the source itself. No metric has a shard
// as a label: there are thousands, and they live for hours.
type meters struct {
	metrics.Set
	records, bytes, pages, ended, gaps *prometheus.CounterVec
	errors, requests                   *prometheus.CounterVec
	shards                             prometheus.GaugeFunc
}

func newMeters(s *Source) *meters {
	counter := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "keyheat", Subsystem: "streams", Name: name, Help: help,
		}, []string{label})
	}
	m := &meters{
		records:  counter("records_total", "Stream records handed to the collector.", "table"),
		bytes:    counter("bytes_total", "Bytes of stream records, as JSON, handed to the collector.", "table"),
		pages:    counter("pages_total", "Responses of GetRecords, empty ones too.", "table"),
		ended:    counter("ended_shards_total", "Shards that were read to their end.", "table"),
		gaps:     counter("gaps_total", "Ranges of a shard that could not be counted.", "table"),
		errors:   counter("errors_total", "Failed attempts, by what was attempted; all are retried.", "kind"),
		requests: counter("requests_total", "Requests to DynamoDB Streams.", "operation"),
		shards: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "keyheat", Subsystem: "streams", Name: "shards",
			Help: "Shards that this collector reads.",
		}, func() float64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return float64(len(s.readers))
		}),
	}
	m.Set = metrics.Set{m.records, m.bytes, m.pages, m.ended, m.gaps, m.errors, m.requests, m.shards}
	return m
}
