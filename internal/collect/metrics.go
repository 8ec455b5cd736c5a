package collect

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/metrics"
)

// meters counts what is stored, so that the counters add over restarts to
// what the store holds.
type meters struct {
	metrics.Set
	samples, discarded    prometheus.Counter
	commits, fenced, gaps prometheus.Counter
	deltaBytes            prometheus.Counter
	bad, failures         *prometheus.CounterVec
	commitSeconds         prometheus.Histogram
	pending, lag, owned   prometheus.GaugeFunc
	watermarkAge          prometheus.GaugeFunc
}

func newMeters(c *Collector) *meters {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "keyheat", Subsystem: "collect", Name: name, Help: help})
	}
	counterVec := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "keyheat", Subsystem: "collect", Name: name, Help: help}, []string{label})
	}
	gauge := func(name, help string, value func() float64) prometheus.GaugeFunc {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "keyheat", Subsystem: "collect", Name: name, Help: help}, value)
	}
	m := &meters{
		samples:    counter("samples_total", "Good samples stored."),
		discarded:  counter("discarded_samples_total", "Good samples thrown away to be read again."),
		commits:    counter("commits_total", "Commits stored."),
		fenced:     counter("fenced_total", "Commits refused because another collector had claimed a partition."),
		gaps:       counter("gaps_total", "Gaps stored: ranges that were never counted."),
		deltaBytes: counter("delta_bytes_total", "Bytes of deltas stored, compressed."),
		bad:        counterVec("bad_samples_total", "Bad samples stored, by reason.", "reason"),
		failures:   counterVec("store_failures_total", "Failed attempts to reach the store, by kind; all are retried.", "kind"),
		commitSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "keyheat", Subsystem: "collect", Name: "commit_seconds",
			Help: "Time from a sealed delta to its stored commit.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 16),
		}),
		pending:      gauge("pending_bytes", "Bytes that wait to be stored.", func() float64 { return float64(c.pendingBytes()) }),
		lag:          gauge("lag_messages", "Messages behind the partitions' positions, all together.", c.totalLag),
		owned:        gauge("partitions", "Partitions that are read.", c.partitionCount),
		watermarkAge: gauge("watermark_age_seconds", "Age of the oldest watermark; 0 without any.", c.oldestWatermark),
	}
	m.Set = metrics.Set{
		m.samples, m.discarded, m.commits, m.fenced, m.gaps, m.deltaBytes, m.bad, m.failures,
		m.commitSeconds, m.pending, m.lag, m.owned, m.watermarkAge,
	}
	return m
}

func (c *Collector) partitionCount() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(len(c.partitions))
}

func (c *Collector) totalLag() (sum float64) {
	c.eachPartition(func(p *partition) { sum += float64(p.lag) })
	return sum
}

func (c *Collector) oldestWatermark() (age float64) {
	now := time.Now()
	c.eachPartition(func(p *partition) {
		if p.watermark > 0 && p.watermark != finalWatermark {
			age = max(age, now.Sub(time.UnixMilli(p.watermark)).Seconds())
		}
	})
	return age
}
