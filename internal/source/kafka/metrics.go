package kafka

import "github.com/prometheus/client_golang/prometheus"

// Kinds of trouble, the values of the errors' label.
const (
	troubleGroup     = "group"
	troubleHeartbeat = "heartbeat"
	troubleOffsets   = "offsets"
	troubleFetch     = "fetch"
	troubleCorrupt   = "corrupt"
	troubleClaim     = "claim"
	troubleReclaim   = "reclaim"
	troubleSink      = "sink"
	troubleRelease   = "release"
	troubleCommit    = "commit"
)

// metrics counts what a source reads. It is a prometheus.Collector, so that
// whoever owns the registry registers the source itself.
type metrics struct {
	messages, bytes, fetches, gaps *prometheus.CounterVec
	errors                         *prometheus.CounterVec
	lag                            *prometheus.GaugeVec
}

func newMetrics() *metrics {
	counter := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "keyheat", Subsystem: "source", Name: name, Help: help,
		}, []string{label})
	}
	return &metrics{
		messages: counter("messages_total", "Messages handed to the collector.", "topic"),
		bytes:    counter("bytes_total", "Bytes of message values handed to the collector.", "topic"),
		fetches:  counter("fetches_total", "Fetch responses without an error.", "topic"),
		gaps:     counter("gaps_total", "Stretches of a log that could not be counted.", "topic"),
		errors:   counter("errors_total", "Failed attempts, by what was attempted; all are made again.", "kind"),
		lag: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "keyheat", Subsystem: "source", Name: "lag_messages",
			Help: "Offsets between what was read and the end of the log.",
		}, []string{"topic", "partition"}),
	}
}

func (m *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.messages, m.bytes, m.fetches, m.gaps, m.errors, m.lag}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.all() {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.all() {
		c.Collect(ch)
	}
}
