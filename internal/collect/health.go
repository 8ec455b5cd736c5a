package collect

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// shareWindow is the period over which the share of bad samples is taken, shareStep its
// resolution.
const (
	shareWindow = time.Minute
	shareStep   = time.Second
)

// badShare is the share of bad samples in the last minute. It is safe for use by
// many goroutines.
type badShare struct {
	limit float64 // above it the collector is not ready
	least int64   // with fewer samples the share has no meaning

	mu     sync.Mutex
	recent []counts // of the last minute, at most one a step
}

// counts are the samples of one moment.
type counts struct {
	at        time.Time
	good, bad int64
}

// count records samples.
func (b *badShare) count(now time.Time, good, bad int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(now)
	if n := len(b.recent); n > 0 && now.Sub(b.recent[n-1].at) < shareStep {
		b.recent[n-1].good += good
		b.recent[n-1].bad += bad
		return
	}
	b.recent = append(b.recent, counts{now, good, bad})
}

func (b *badShare) forget(now time.Time) {
	b.recent = slices.DeleteFunc(b.recent, func(c counts) bool { return now.Sub(c.at) > shareWindow })
}

// sums returns the samples of the last minute.
func (b *badShare) sums(now time.Time) (good, bad int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(now)
	for _, c := range b.recent {
		good += c.good
		bad += c.bad
	}
	return good, bad
}

// value returns the share; nil without samples.
func (b *badShare) value(now time.Time) *float64 {
	good, bad := b.sums(now)
	if good+bad == 0 {
		return nil
	}
	return new(float64(bad) / float64(good+bad))
}

// reason returns why the share keeps the collector from being ready; empty when
// it does not.
func (b *badShare) reason(now time.Time) string {
	good, bad := b.sums(now)
	if all := good + bad; all >= b.least && float64(bad) > b.limit*float64(all) {
		return fmt.Sprintf("%d of the last minute's %d samples are bad: look at the bad samples' reasons", bad, all)
	}
	return ""
}

// Ready returns why samples are not counted as they should be, a sentence each;
// empty when they are.
func (c *Collector) Ready() []string {
	now := time.Now()
	out := c.health.Reasons()
	for _, reason := range []string{c.share.reason(now), c.refused.reason(now), c.hostClock.reason(), c.hostClock.aheadReason(now)} {
		if reason != "" {
			out = append(out, reason)
		}
	}
	if name, since := c.stuck(now); name != "" {
		out = append(out, fmt.Sprintf("partition %s has not moved for %s: is its source away?", name, since.Round(time.Second)))
	}
	return out
}

// stuck returns the partition whose watermark has stood still the longest, if that is too
// long. A partition that waits for slower ones is well.
func (c *Collector) stuck(now time.Time) (name string, since time.Duration) {
	c.eachPartition(func(p *partition) {
		still := now.Sub(p.moved)
		if still > max(since, c.config.StuckAfter) && p.watermark != finalWatermark && !p.clock.waiting.Load() {
			name, since = p.id.Name, still
		}
	})
	return name, since
}

// eachPartition calls show for every partition, under its shard's lock.
func (c *Collector) eachPartition(show func(*partition)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.partitions {
		p.shard.mu.Lock()
		show(p)
		p.shard.mu.Unlock()
	}
}
