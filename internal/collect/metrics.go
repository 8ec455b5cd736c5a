package collect

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/daemon"
)

// meters counts stored samples, so that the counters add up to the store's content across
// restarts.
type meters struct {
	*daemon.MetricSet
	samples, discarded    prometheus.Counter
	commits, fenced, gaps prometheus.Counter
	early                 prometheus.Counter
	deltaBytes            prometheus.Counter
	bad, failures         *prometheus.CounterVec
	commitSeconds         prometheus.Histogram
}

func newMeters(c *Collector) *meters {
	s := daemon.NewMetrics("collect", nil)
	s.GaugeFunc("pending_bytes", "Bytes that wait to be stored.", func() float64 { return float64(c.pendingBytes()) })
	s.GaugeFunc("lag_messages", "Messages behind the partitions' positions, all together; NaN while a partition is not read.", c.totalLag)
	s.GaugeFunc("partitions", "Partitions that are claimed.", c.partitionCount)
	s.GaugeFunc("unread_partitions", "Partitions, topics and tables that should be read and are not.", c.unreadCount)
	s.GaugeFunc("watermark_age_seconds", "Age of the oldest watermark; 0 without any.", c.oldestWatermark)
	return &meters{
		MetricSet:  s,
		samples:    s.Counter("samples_total", "Good samples stored."),
		discarded:  s.Counter("discarded_samples_total", "Good samples thrown away to be read again."),
		commits:    s.Counter("commits_total", "Commits stored."),
		early:      s.Counter("early_commits_total", "Commits before their time, because a key came over a partition's limit or a producer waits for its batch."),
		fenced:     s.Counter("fenced_total", "Commits refused because another collector had claimed a partition."),
		gaps:       s.Counter("gaps_total", "Gaps stored: ranges that were never counted."),
		deltaBytes: s.Counter("delta_bytes_total", "Bytes of deltas stored, compressed."),
		bad:        s.CounterVec("bad_samples_total", "Bad samples stored, by reason.", "reason"),
		failures:   s.CounterVec("store_failures_total", "Failed attempts to reach the store, by kind; all are retried.", "kind"),
		commitSeconds: s.Histogram("commit_seconds", "Time from a sealed delta to its stored commit.",
			prometheus.ExponentialBuckets(0.001, 2, 16)),
	}
}

func (c *Collector) partitionCount() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(len(c.partitions))
}

func (c *Collector) totalLag() float64 {
	if lag := c.knownLag(time.Now()); lag != nil {
		return float64(*lag)
	}
	return math.NaN()
}

func (c *Collector) unreadCount() float64 {
	r := c.reading(time.Now())
	return float64(len(r.Unread) + r.More)
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
