package collect

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// lookAgain is how often a waiting Fold looks whether it has waited for one
// that has fallen silent.
const lookAgain = time.Second

// early is the share of Config.PendingBytes at which a commit begins early.
const early = 2

// unread is the front of a partition of which nothing was read yet: it counts
// as being at the very beginning.
const unread = math.MinInt64

// pace is where a partition is in the log's own time. Its fields are read by
// the other partitions.
type pace struct {
	front   atomic.Int64 // newest time read, Unix milliseconds
	idle    atomic.Bool  // at the end of its log
	last    atomic.Int64 // when it was heard of, wall clock, Unix milliseconds
	waiting atomic.Bool  // for slower ones
}

func (p *pace) begin(now time.Time) {
	p.front.Store(unread)
	p.last.Store(now.UnixMilli())
}

func (p *pace) heard(now time.Time) { p.last.Store(now.UnixMilli()) }

// advance notes where the partition is. A batch without a time leaves it
// there, unless the end of the log is reached: then nobody waits for it.
func (p *pace) advance(newest int64, end bool) {
	if newest > 0 {
		p.front.Store(newest)
	}
	p.idle.Store(end)
}

// admit waits until a batch may be folded: while memory is full, and while the
// partition is too far ahead of slower ones. It cannot wait for itself: the
// slowest is never ahead, so that among those that wait for each other one
// goes on; and one that is silent is waited for with patience only.
func (p *partition) admit(ctx context.Context, messages bool) error {
	if wait, err := p.mustWait(ctx, messages); !wait {
		return err
	}
	for {
		changed := p.collector.bell.listen()
		if wait, err := p.mustWait(ctx, messages); !wait {
			return err
		}
		p.collector.relieve()
		p.await(ctx, changed)
		p.pace.heard(time.Now())
	}
}

// mustWait says whether a batch has to wait, or why the handle cannot be used.
// One without messages takes no memory and runs ahead of nobody, but its source
// is paused with the others'.
func (p *partition) mustWait(ctx context.Context, messages bool) (bool, error) {
	if err := p.alive(ctx); err != nil {
		return false, err
	}
	crowded := p.collector.held() >= p.collector.config.PendingBytes
	ahead := messages && !crowded && p.ahead(time.Now())
	p.pace.waiting.Store(ahead)
	return crowded || ahead, nil
}

// await returns when something changed, ctx ended, or it is time to look
// again.
func (p *partition) await(ctx context.Context, changed <-chan struct{}) {
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-changed:
	case <-timer.C:
	}
}

// relieve asks for a commit when much waits.
func (c *Collector) relieve() {
	if c.held()-c.flying.Load() >= c.config.PendingBytes/early {
		c.hurry()
	}
}

// ahead says whether the partition has to wait for a slower one.
func (p *partition) ahead(now time.Time) bool {
	own := p.pace.front.Load()
	if own == unread {
		return false
	}
	bound := own - p.collector.config.MaxAhead.Milliseconds()
	heard := now.Add(-p.collector.config.Patience).UnixMilli()
	p.collector.mu.Lock()
	defer p.collector.mu.Unlock()
	for _, q := range p.collector.partitions {
		if q != p && !q.pace.idle.Load() && q.pace.last.Load() > heard && q.pace.front.Load() < bound {
			return true
		}
	}
	return false
}
