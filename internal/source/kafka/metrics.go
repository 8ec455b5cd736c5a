package kafka

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/metrics"
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

// meters counts what a source reads. It is embedded, so that whoever owns the
// registry registers the source itself.
type meters struct {
	metrics.Set
	messages, bytes, fetches, gaps *prometheus.CounterVec
	errors                         *prometheus.CounterVec
	lag                            *prometheus.GaugeVec
	missing                        prometheus.Gauge
}

func newMeters() *meters {
	counter := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "keyheat", Subsystem: "source", Name: name, Help: help,
		}, []string{label})
	}
	m := &meters{
		messages: counter("messages_total", "Messages handed to the collector.", "topic"),
		bytes:    counter("bytes_total", "Bytes of message values handed to the collector.", "topic"),
		fetches:  counter("fetches_total", "Fetch responses without an error.", "topic"),
		gaps:     counter("gaps_total", "Ranges of a log that could not be counted.", "topic"),
		errors:   counter("errors_total", "Failed attempts, by what was attempted; all are retried.", "kind"),
		lag: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "keyheat", Subsystem: "source", Name: "lag_messages",
			Help: "Offsets between what was read and the end of the log.",
		}, []string{"topic", "partition"}),
		missing: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "keyheat", Subsystem: "source", Name: "missing_topics",
			Help: "Configured topics that do not exist. The others are read.",
		}),
	}
	m.Set = metrics.Set{m.messages, m.bytes, m.fetches, m.gaps, m.errors, m.lag, m.missing}
	return m
}
