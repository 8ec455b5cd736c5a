package shards

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/daemon"
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

// meters counts the records and requests of a source. It is embedded, so that the owner of
// the registry registers the source itself. No metric has a shard as a label: there are
// thousands of shards, and they live for hours.
type meters struct {
	*daemon.MetricSet
	records, bytes, pages, ended, gaps *prometheus.CounterVec
	errors, requests                   *prometheus.CounterVec
}

func newMeters(source *Source) *meters {
	s := daemon.NewMetrics("streams", nil)
	s.GaugeFunc("shards", "Shards that this collector reads.", func() float64 {
		source.mu.Lock()
		defer source.mu.Unlock()
		return float64(len(source.readers))
	})
	return &meters{
		MetricSet: s,
		records:   s.CounterVec("records_total", "Stream records handed to the collector.", "table"),
		bytes:     s.CounterVec("bytes_total", "Bytes of stream records, as JSON, handed to the collector.", "table"),
		pages:     s.CounterVec("pages_total", "Responses of GetRecords, empty ones too.", "table"),
		ended:     s.CounterVec("ended_shards_total", "Shards that were read to their end.", "table"),
		gaps:      s.CounterVec("gaps_total", "Ranges of a shard that could not be counted.", "table"),
		errors:    s.CounterVec("errors_total", "Failed attempts, by kind; all are retried.", "kind"),
		requests:  s.CounterVec("requests_total", "Requests to DynamoDB Streams.", "operation"),
	}
}
