package collect

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

const (
	// settleTime is how long records may still come late in the log's order: a watermark
	// stays that many milliseconds behind the newest message.
	settleTime = 1000
	// finalWatermark is the watermark of a partition that will not grow.
	finalWatermark = math.MaxInt64
)

// partition is one claim of a partition: a source.Partition. The shard's lock guards all
// fields without a comment of their own.
type partition struct {
	collector *Collector
	id        store.PartitionID
	epoch     int64
	resets    int64 // number of resets at the claim
	shard     *shard
	handler   recordHandler
	clock     logClock // has no lock
	hasTimes  bool     // messages have times: the partition is no file

	// at is the position behind everything folded, stored the store's position.
	// Compare-and-swap moves them and ended.
	at, stored         string
	mark               string // the source's note of at
	ended, endedStored bool
	// watermark is Unix milliseconds; 0 before anything is known.
	watermark int64
	lag       int64
	read      bool // anything was read since the claim
	// changes counts folds and gaps; saved counts the stored ones.
	changes, saved uint64
	committed      bool
}

func newPartition(c *Collector, at store.Position, s *shard, tableShard bool) *partition {
	now := time.Now()
	p := &partition{
		collector: c, id: at.PartitionID, epoch: at.Epoch, resets: c.resets.Load(), shard: s,
		at: at.Next, stored: at.Next, mark: at.Mark, ended: at.Ended, endedStored: at.Ended,
		handler: recordHandler{
			shard: s, decoder: c.config.Decoder(at.Name), clock: &c.hostClock,
			pendingBytes: c.config.PendingBytes, recent: sample.NewRecent(recentIDs),
		},
	}
	if tableShard {
		p.handler.keys = &shardKeys{}
	}
	p.clock.begin(now)
	return p
}

// usable returns why the handle cannot be used, if so.
func (p *partition) usable(ctx context.Context) error {
	if p.resets != p.collector.resets.Load() {
		return fmt.Errorf("%w: %w", source.ErrReclaim, *p.collector.cause.Load())
	}
	return ctx.Err()
}

func (p *partition) Position() string {
	p.shard.mu.Lock()
	defer p.shard.mu.Unlock()
	return p.at
}

func (p *partition) Mark() string {
	p.shard.mu.Lock()
	defer p.shard.mu.Unlock()
	return p.mark
}

func (p *partition) CommittedPosition() string {
	p.shard.mu.Lock()
	defer p.shard.mu.Unlock()
	if !p.committed {
		return ""
	}
	return p.stored
}

func (p *partition) Fold(ctx context.Context, b source.Batch) error {
	now := time.Now() // before any waiting: an End is true of then at best
	p.clock.markSeen(now)
	if b.Messages != nil && b.Wanted != nil {
		p.keepClose(ctx, b.Wanted)
	}
	if err := p.admit(ctx, b.Messages != nil, b.Yield); err != nil {
		return err
	}
	if err := p.fold(ctx, b, now); err != nil {
		return err
	}
	p.clock.markSeen(now)
	p.collector.drain()
	p.collector.changed.notify()
	return nil
}

func (p *partition) fold(ctx context.Context, b source.Batch, now time.Time) error {
	p.shard.mu.Lock()
	defer p.shard.mu.Unlock()
	if err := p.usable(ctx); err != nil {
		return err
	}
	p.count(b)
	p.at, p.mark, p.lag, p.read, p.ended = b.Next, b.Mark, b.Lag, true, b.Final
	p.changes++
	p.advance(b, now)
	over := p.shard.sketch.OverLimit()
	if len(over) > 0 && p.collector.hot.observe(over, p.collector.hostClock.storeTime(now)) || b.Outcome != nil { // its producer waits for the commit
		daemon.Signal(p.collector.earlyRequested)
	}
	return nil
}

// count counts a batch's messages, apart from others' if the source wants to know its
// outcome. The caller holds the shard's lock.
func (p *partition) count(b source.Batch) {
	p.handler.sender = p.sender(b)
	p.shard.sketch.SetSender(p.handler.sender)
	if b.Outcome == nil {
		p.handler.handle(b.Messages)
	} else {
		before := p.shard.counters
		p.shard.counters = counters{}
		p.handler.handle(b.Messages)
		*b.Outcome = p.shard.counters.outcome()
		if b.Outcome.RefusedAll {
			p.shard.counters.bad = nil
		}
		before.add(p.shard.counters)
		p.shard.counters = before
	}
	if m := b.Producer; m != nil && !b.Outcome.RefusedAll {
		mark := m.Mark
		if b.Outcome.Untimed == 0 {
			mark = store.TimedMark + mark
		}
		p.shard.moves = append(p.shard.moves, store.Move{
			PartitionID: store.PartitionID{Source: p.id.Source, Name: m.Name}, From: m.From, To: m.To, Mark: mark,
		})
	}
}

// sender returns who sent a batch: the user, or for a log the topic or table that it is part of.
func (p *partition) sender(b source.Batch) string {
	if b.User != "" {
		return "user " + b.User
	}
	return p.id.Name[:max(0, strings.LastIndexByte(p.id.Name, '/'))]
}

// advance moves the watermark and the clock behind a batch that was read at a time of this
// host. A message from the future moves them to the present at most, because future seconds
// are not complete. The present is the store's time. A host with a slow clock would
// otherwise hold back the seconds of all collectors, and a host with a fast clock would
// close them early.
func (p *partition) advance(b source.Batch, read time.Time) {
	host := &p.collector.hostClock
	now := host.storeTime(read).UnixMilli()
	newest := min(b.Time, now)
	if b.Time == 0 && !p.hasTimes {
		newest = p.handler.newest // a file's records are its only clock
	}
	p.hasTimes = p.hasTimes || b.Time > 0
	watermark := newest - settleTime
	switch {
	case b.Final:
		watermark = finalWatermark
	case b.End && host.offset.Load() == nil: // the store's time was not asked for yet
	case b.End && b.Read > 0:
		watermark = max(watermark, host.storeTime(time.UnixMilli(b.Read)).UnixMilli()-settleTime)
	case b.End:
		watermark = max(watermark, now-settleTime)
	}
	p.watermark = max(p.watermark, watermark)
	p.clock.advance(newest, b.End)
}

func (p *partition) Gap(ctx context.Context, g sample.Gap) error {
	if err := p.admit(ctx, false, nil); err != nil {
		return err
	}
	p.shard.mu.Lock()
	defer p.shard.mu.Unlock()
	if err := p.usable(ctx); err != nil {
		return err
	}
	p.shard.gaps = append(p.shard.gaps, store.Gap{
		Gap: sample.Gap{
			Source: p.id.Source, Partition: p.id.Name, From: g.From, To: g.To, Since: g.Since, Until: g.Until,
			Reason: g.Reason,
		},
		Noticed: time.Now(),
	})
	p.shard.updatePending()
	if g.To != "" {
		p.at, p.mark = g.To, ""
	}
	p.changes++
	return nil
}

// Release implements source.Partition. If its commit does not succeed in time, there is a
// reset, because the pending delta holds samples of a partition that is no longer ours.
func (p *partition) Release(ctx context.Context) error {
	if p.resets != p.collector.resets.Load() {
		return source.ErrReclaim
	}
	defer p.collector.unregister(p)
	if !p.hasUnsaved() {
		return nil
	}
	if err := p.collector.commit(ctx, p.hasUnsaved); err != nil {
		p.collector.reset(p.resets, err)
		return fmt.Errorf("release %s: %w: %w", p.id, source.ErrReclaim, err)
	}
	if p.hasUnsaved() { // thrown away while it waited for its turn
		return source.ErrReclaim
	}
	return nil
}

// hasUnsaved reports whether something of this handle is not stored.
func (p *partition) hasUnsaved() bool {
	p.shard.mu.Lock()
	defer p.shard.mu.Unlock()
	return p.changes != p.saved
}

// storedWatermark returns the partition's watermark for the store. It returns false before
// the first batch, while the last owner's watermark stands.
func (p *partition) storedWatermark() (store.Watermark, bool) {
	w := store.Watermark{PartitionID: p.id, Epoch: p.epoch, Lag: p.lag, Time: store.Infinity}
	if p.watermark != finalWatermark {
		w.Time = time.UnixMilli(p.watermark).UTC()
	}
	return w, p.watermark > 0
}
