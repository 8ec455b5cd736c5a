package daemon

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// MetricSet is the metrics of a component, registered as one, so that a component can embed
// them in its own value. It implements [prometheus.Collector].
type MetricSet struct {
	subsystem string
	labels    prometheus.Labels
	registry  *prometheus.Registry
	make      promauto.Factory
}

// NewMetrics returns a set of metrics. Their names begin with keyheat_subsystem_; all have the
// labels, which may be nil.
func NewMetrics(subsystem string, labels prometheus.Labels) *MetricSet {
	registry := prometheus.NewRegistry()
	return &MetricSet{subsystem: subsystem, labels: labels, registry: registry, make: promauto.With(registry)}
}

// Describe implements [prometheus.Collector].
func (s *MetricSet) Describe(ch chan<- *prometheus.Desc) { s.registry.Describe(ch) }

// Collect implements [prometheus.Collector].
func (s *MetricSet) Collect(ch chan<- prometheus.Metric) { s.registry.Collect(ch) }

func (s *MetricSet) options(name, help string) prometheus.Opts {
	return prometheus.Opts{Namespace: "keyheat", Subsystem: s.subsystem, Name: name, Help: help, ConstLabels: s.labels}
}

// Counter adds a counter.
func (s *MetricSet) Counter(name, help string) prometheus.Counter {
	return s.make.NewCounter(prometheus.CounterOpts(s.options(name, help)))
}

// CounterVec adds a counter by a label, with the values that are known to begin with.
func (s *MetricSet) CounterVec(name, help, label string, known ...string) *prometheus.CounterVec {
	counters := s.make.NewCounterVec(prometheus.CounterOpts(s.options(name, help)), []string{label})
	for _, value := range known {
		counters.WithLabelValues(value)
	}
	return counters
}

// Gauge adds a gauge.
func (s *MetricSet) Gauge(name, help string) prometheus.Gauge {
	return s.make.NewGauge(prometheus.GaugeOpts(s.options(name, help)))
}

// GaugeVec adds a gauge by labels.
func (s *MetricSet) GaugeVec(name, help string, labels ...string) *prometheus.GaugeVec {
	return s.make.NewGaugeVec(prometheus.GaugeOpts(s.options(name, help)), labels)
}

// GaugeFunc adds a gauge whose value is asked for.
func (s *MetricSet) GaugeFunc(name, help string, value func() float64) {
	s.make.NewGaugeFunc(prometheus.GaugeOpts(s.options(name, help)), value)
}

// Histogram adds a histogram.
func (s *MetricSet) Histogram(name, help string, buckets []float64) prometheus.Histogram {
	return s.make.NewHistogram(prometheus.HistogramOpts{
		Namespace: "keyheat", Subsystem: s.subsystem, Name: name, Help: help, ConstLabels: s.labels, Buckets: buckets,
	})
}
