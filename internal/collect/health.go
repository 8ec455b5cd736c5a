package collect

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// shareWindow is how far back the share of bad samples looks, shareStep how
// finely.
const (
	shareWindow = time.Minute
	shareStep   = time.Second
)

// health keeps what is wrong now. It is safe for use by many goroutines.
type health struct {
	share float64
	least int64

	mu     sync.Mutex
	wrong  map[string]string // by task
	recent []counts          // of the last minute, at most one a step
}

// counts are the samples of one moment.
type counts struct {
	at        time.Time
	good, bad int64
}

func newHealth(c Config) *health {
	return &health{share: c.BadShare, least: c.BadSamples, wrong: make(map[string]string)}
}

// fail notes what is wrong with a task, and says whether that is news.
func (h *health) fail(task, reason string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, known := h.wrong[task]
	h.wrong[task] = reason
	return !known
}

// heal notes that a task works, or is not tried any more.
func (h *health) heal(task string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.wrong, task)
}

// count notes samples for the share of bad ones.
func (h *health) count(now time.Time, good, bad int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget(now)
	if n := len(h.recent); n > 0 && now.Sub(h.recent[n-1].at) < shareStep {
		h.recent[n-1].good += good
		h.recent[n-1].bad += bad
		return
	}
	h.recent = append(h.recent, counts{now, good, bad})
}

func (h *health) forget(now time.Time) {
	h.recent = slices.DeleteFunc(h.recent, func(c counts) bool { return now.Sub(c.at) > shareWindow })
}

// reasons lists what is wrong.
func (h *health) reasons(now time.Time) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, task := range slices.Sorted(maps.Keys(h.wrong)) {
		out = append(out, task+": "+h.wrong[task])
	}
	h.forget(now)
	var good, bad int64
	for _, c := range h.recent {
		good += c.good
		bad += c.bad
	}
	if all := good + bad; all >= h.least && float64(bad) > h.share*float64(all) {
		out = append(out, fmt.Sprintf("%d of the last minute's %d samples are bad: look at the bad samples' reasons", bad, all))
	}
	return out
}

// Ready says why samples are not counted as they should be, a sentence each;
// empty when they are.
func (c *Collector) Ready() []string {
	now := time.Now()
	out := c.health.reasons(now)
	if name, since := c.stuck(now); name != "" {
		out = append(out, fmt.Sprintf("partition %s has not moved for %s: is its source away?", name, since.Round(time.Second)))
	}
	return out
}

// stuck is the partition whose watermark has stood still the longest, if that
// is too long. One that waits for slower ones is well.
func (c *Collector) stuck(now time.Time) (name string, since time.Duration) {
	c.eachPartition(func(p *partition) {
		still := now.Sub(p.moved)
		if still > max(since, c.config.StuckAfter) && p.watermark != forever && !p.pace.waiting.Load() {
			name, since = p.id.Name, still
		}
	})
	return name, since
}

// eachPartition shows every partition, under its shard's lock.
func (c *Collector) eachPartition(show func(*partition)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.partitions {
		p.shard.mu.Lock()
		show(p)
		p.shard.mu.Unlock()
	}
}
