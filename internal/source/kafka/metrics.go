package kafka

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/daemon"
)

// Kinds of failures, the values of the errors' label.
const (
	failureGroup     = "group"
	failureTopic     = "topic"
	failureHeartbeat = "heartbeat"
	failureOffsets   = "offsets"
	failureFetch     = "fetch"
	failureCorrupt   = "corrupt"
	failureClaim     = "claim"
	failureReclaim   = "reclaim"
	failureSink      = "sink"
	failureRelease   = "release"
	failureCommit    = "commit"
)

// meters counts the records and requests of a source. It is embedded, so that the owner of
// the registry registers the source itself.
type meters struct {
	*daemon.MetricSet
	messages, bytes, fetches, gaps *prometheus.CounterVec
	errors                         *prometheus.CounterVec
	lag                            *prometheus.GaugeVec
	missing                        prometheus.Gauge
}

func newMeters() *meters {
	s := daemon.NewMetrics("source", nil)
	return &meters{
		MetricSet: s,
		messages:  s.CounterVec("messages_total", "Messages handed to the collector.", "topic"),
		bytes:     s.CounterVec("bytes_total", "Bytes of message values handed to the collector.", "topic"),
		fetches:   s.CounterVec("fetches_total", "Fetch responses without an error.", "topic"),
		gaps:      s.CounterVec("gaps_total", "Ranges of a log that could not be counted.", "topic"),
		errors:    s.CounterVec("errors_total", "Failed attempts, by kind; all are retried.", "kind"),
		lag:       s.GaugeVec("lag_messages", "Offsets between the position and the end of the log.", "topic", "partition"),
		missing:   s.Gauge("missing_topics", "Configured topics that do not exist. The others are read."),
	}
}
