package collect

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sketch"
)

// recheckInterval is how often a waiting Fold checks whether the partition that it
// waits for has fallen silent.
const recheckInterval = time.Second

// yieldInterval is how often a waiting batch checks whether others want its memory.
const yieldInterval = 100 * time.Millisecond

const (
	// closeAhead is how far ahead of slower partitions a batch is folded at once: half of
	// the seconds that a sketch keeps open. Reopening a sealed second costs as much as
	// another second, in the collector and in the store.
	closeAhead = sketch.SecondsInRing / 2 * time.Second
	// closeWait is how long a batch waits for slower partitions to come close.
	closeWait = 100 * time.Millisecond
)

// earlyCommitShare is the part of Config.PendingBytes, as a divisor, at which a commit
// begins early.
const earlyCommitShare = 2

// nothingRead is the newest time of a partition before its first batch: it counts as being
// at the very beginning.
const nothingRead = math.MinInt64

// logClock is a partition's position in the log's own time. The other partitions read its
// fields.
type logClock struct {
	newest   atomic.Int64 // newest time read, Unix milliseconds
	atEnd    atomic.Bool  // at the end of its log
	lastSeen atomic.Int64 // wall clock of its last use, Unix milliseconds
	waiting  atomic.Bool  // waits for slower partitions
}

func (l *logClock) begin(now time.Time) {
	l.newest.Store(nothingRead)
	l.lastSeen.Store(now.UnixMilli())
}

func (l *logClock) markSeen(now time.Time) { l.lastSeen.Store(now.UnixMilli()) }

// advance records the partition's newest time. A batch without a time leaves it unchanged.
// At the end of the log nobody waits for the partition.
func (l *logClock) advance(newest int64, end bool) {
	if newest > 0 {
		l.newest.Store(newest)
	}
	l.atEnd.Store(end)
}

// admit blocks a batch while memory is full, and while the partition is too far ahead of
// slower ones. Partitions cannot wait for each other, because the slowest one is never
// ahead. A silent partition is waited for with patience only.
//
// A slower partition may need the batch's memory. yield, if not nil, gives it back, and the
// wait ends with ErrReread once the batch can be read again.
func (p *partition) admit(ctx context.Context, messages bool, yield func() bool) error {
	wait, err := p.mustWait(ctx, messages, farthestAhead)
	if wait == nowait {
		return err
	}
	maxAhead, recheck, yielded := farthestAhead, recheckInterval, false
	if yield != nil {
		recheck = yieldInterval
	}
	for {
		changed := p.collector.changed.listen()
		wait, err := p.mustWait(ctx, messages, maxAhead)
		switch {
		case wait == nowait && err == nil && yielded:
			return source.ErrReread
		case wait == nowait:
			return err
		case wait == waitAhead && yield != nil && !yielded && yield():
			yielded, recheck, maxAhead = true, recheckInterval, maxAhead/2
		}
		p.collector.drain()
		daemon.Wait(ctx, recheck, changed)
		p.clock.markSeen(time.Now())
	}
}

// keepClose waits a moment for slower partitions, so that partitions with a backlog read it
// in the order of its seconds. Unlike [partition.admit] it waits only while nobody else
// wants the batch's memory.
func (p *partition) keepClose(ctx context.Context, wanted func() bool) {
	until := time.Now().Add(closeWait)
	for {
		changed := p.collector.changed.listen()
		now := time.Now()
		if !now.Before(until) || p.usable(ctx) != nil || wanted() || !p.isAhead(now, closeAhead) {
			return
		}
		daemon.Wait(ctx, until.Sub(now), changed)
		p.clock.markSeen(time.Now())
	}
}

// waiting is the reason why a batch waits.
type waiting int

const (
	nowait waiting = iota
	waitFull
	waitAhead
)

// mustWait returns the reason why a batch has to wait, or the error of a dead handle. A
// batch without messages takes no memory and is never ahead, but its source pauses with the
// others.
func (p *partition) mustWait(ctx context.Context, messages bool, maxAhead time.Duration) (waiting, error) {
	if err := p.usable(ctx); err != nil {
		return nowait, err
	}
	full := p.collector.pendingBytes() >= p.collector.config.PendingBytes
	ahead := messages && !full && p.isAhead(time.Now(), maxAhead)
	p.clock.waiting.Store(ahead)
	switch {
	case full:
		return waitFull, nil
	case ahead:
		return waitAhead, nil
	}
	return nowait, nil
}

// drain requests a commit when many bytes are pending.
func (c *Collector) drain() {
	if c.pendingBytes()-c.inFlight.Load() >= c.config.PendingBytes/earlyCommitShare {
		c.requestCommit()
	}
}

// isAhead reports whether the partition is further ahead of a slower one than it may be.
func (p *partition) isAhead(now time.Time, by time.Duration) bool {
	own := p.clock.newest.Load()
	if own == nothingRead {
		return false
	}
	bound := own - by.Milliseconds()
	silent := now.Add(-patience).UnixMilli()
	p.collector.mu.Lock()
	defer p.collector.mu.Unlock()
	for _, q := range p.collector.partitions {
		if q != p && !q.clock.atEnd.Load() && q.clock.lastSeen.Load() > silent && q.clock.newest.Load() < bound {
			return true
		}
	}
	return false
}
