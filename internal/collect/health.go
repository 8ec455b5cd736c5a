package collect

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/store"
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
	if silent := c.silent(now); len(silent) > 0 {
		longest := slices.MinFunc(silent, store.Unread.Compare)
		out = append(out, fmt.Sprintf("partition %s has not been read for %s: is its source away?", longest.Name, c.hostClock.storeTime(now).Sub(longest.Since).Round(time.Second)))
	}
	return out
}

// silent returns the claimed partitions that have had no batch for unreadAfter. One that
// waits for others has its batch. Times are the store's.
func (c *Collector) silent(now time.Time) (all []store.Unread) {
	c.eachPartition(func(p *partition) {
		if seen := time.UnixMilli(p.clock.lastSeen.Load()); now.Sub(seen) > unreadAfter && p.watermark != finalWatermark {
			all = append(all, store.Unread{Source: p.id.Source, Name: p.id.Name, Since: c.hostClock.storeTime(seen)})
		}
	})
	return all
}

// faults returns what the source does not read. Times are the store's.
func (c *Collector) faults() (all []store.Unread) {
	if c.source == nil {
		return nil
	}
	for _, f := range c.source.Unread() {
		all = append(all, store.Unread{Name: f.Part, Since: c.hostClock.storeTime(f.Since)})
	}
	return all
}

// reading returns how many partitions are read, and what is not, by this collector or by any.
func (c *Collector) reading(now time.Time) *store.Reading {
	unread := make(map[string]store.Unread)
	for _, u := range append(c.faults(), c.silent(now)...) {
		unread[u.Name] = u
	}
	c.mu.Lock()
	for name, seen := range c.abandoned {
		if _, known := unread[name]; !known && c.hostClock.storeTime(now).Sub(seen) > abandonedAfter {
			unread[name] = store.Unread{Name: name, Since: seen}
		}
	}
	c.mu.Unlock()
	r := new(store.Reading)
	c.eachPartition(func(p *partition) {
		if seen := time.UnixMilli(p.clock.lastSeen.Load()); p.read && seen.After(c.lastRead) {
			c.lastRead = seen
		}
		if _, is := unread[p.id.Name]; !is && p.read {
			r.Read++
		}
	})
	c.mu.Lock()
	r.Last = c.hostClock.storeTime(c.lastRead)
	c.mu.Unlock()
	r.Unread = slices.SortedFunc(maps.Values(unread), store.Unread.Compare)
	if s, is := c.source.(userSource); is {
		r.FullUsers = s.FullUsers()
	}
	if r.More = max(0, len(r.Unread)-maxNames); r.More > 0 {
		r.Unread = r.Unread[:maxNames]
	}
	return r
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
