// Package metrics holds what the components share to export their metrics.
package metrics

import "github.com/prometheus/client_golang/prometheus"

// Set is several collectors registered as one, so that a component can embed its
// metrics in one value. It implements [prometheus.Collector].
type Set []prometheus.Collector

// Describe implements [prometheus.Collector].
func (s Set) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range s {
		c.Describe(ch)
	}
}

// Collect implements [prometheus.Collector].
func (s Set) Collect(ch chan<- prometheus.Metric) {
	for _, c := range s {
		c.Collect(ch)
	}
}
