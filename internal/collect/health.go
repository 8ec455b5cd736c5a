package collect

import (
	"fmt"
	"time"
)

// Ready returns why samples are not counted as they should be, a sentence each;
// empty when they are.
func (c *Collector) Ready() []string {
	now := time.Now()
	out := c.health.Reasons()
	recent := c.recent.sum(now)
	out = append(out, recent.reasons()...)
	if reason := c.hostClock.reason(); reason != "" {
		out = append(out, reason)
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
		if still > max(since, stuckAfter) && p.watermark != finalWatermark && !p.clock.waiting.Load() {
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
