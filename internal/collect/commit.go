package collect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// commitTask names the commit in logs and reasons.
const commitTask = "commit"

// flight is one commit on its way: what was gathered, and how far each
// partition was when it was sealed.
type flight struct {
	ctx     context.Context // ends also when the flight is abandoned
	end     context.CancelFunc
	stretch int64
	delta   *sketch.Delta
	tally   tally
	bytes   int64
	commit  store.Commit
	parts   []progress
}

// progress is how far a partition was when a flight was sealed.
type progress struct {
	partition *partition
	to        string
	ended     bool
	changes   uint64
}

// commit waits for its turn and stores everything that is pending, unless it
// is not needed any more by then. It tries until ctx ends. After an error
// nothing of the flight's stretch is left: it will be read again.
func (c *Collector) commit(ctx context.Context, needed func() bool) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("wait for another commit: %w", ctx.Err())
	}
	defer func() { <-c.turn }()
	if !needed() {
		return nil
	}
	f := c.seal(ctx)
	if f == nil {
		return nil
	}
	defer f.end()
	defer c.bell.ring()
	defer c.flying.Store(0)
	began := time.Now()
	if err := c.deliver(f); err != nil {
		c.discard(f.stretch, err)
		c.discarded.Add(float64(f.tally.good))
		return err
	}
	c.land(f)
	c.commitSeconds.Observe(time.Since(began).Seconds())
	return nil
}

// seal takes what all shards hold, and the positions that it covers, at one
// moment. It answers nil when there is nothing to say.
func (c *Collector) seal(ctx context.Context) *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lockShards()
	defer c.unlockShards()
	f := &flight{stretch: c.stretch.Load(), delta: sketch.NewDelta(c.config.Sketch)}
	for _, s := range c.shards {
		f.take(s)
	}
	for _, p := range c.partitions {
		f.cover(p)
	}
	now := time.Now()
	c.share.count(now, f.tally.good, f.tally.refusals())
	f.commit.Bad = f.tally.rows(c.config.Source, now)
	if f.empty() {
		return nil
	}
	c.seq++
	f.commit.Writer, f.commit.Seq = c.writer, c.seq
	f.ctx, f.end = context.WithCancel(ctx)
	c.abandon = f.end
	c.flying.Store(f.bytes)
	return f
}

func (c *Collector) lockShards() {
	for _, s := range c.shards {
		s.mu.Lock()
	}
}

func (c *Collector) unlockShards() {
	for _, s := range c.shards {
		s.mu.Unlock()
	}
}

// take empties a shard into the flight. The caller holds its lock.
func (f *flight) take(s *shard) {
	f.bytes += s.pending.Load()
	s.sketch.Seal(f.delta)
	f.tally.add(s.tally)
	f.commit.Gaps = append(f.commit.Gaps, s.gaps...)
	s.tally, s.gaps = tally{}, nil
	s.weigh()
}

// cover notes how far a partition is. The caller holds its shard's lock.
func (f *flight) cover(p *partition) {
	f.parts = append(f.parts, progress{partition: p, to: p.at, ended: p.ended, changes: p.changes})
	if p.at != p.stored || p.ended != p.endedStored {
		f.commit.Moves = append(f.commit.Moves, store.Move{
			PartitionID: p.id, Epoch: p.epoch, From: p.stored, To: p.at, Ended: p.ended,
		})
	}
	if w, known := p.mark(); known {
		f.commit.Watermarks = append(f.commit.Watermarks, w)
	}
}

func (f *flight) empty() bool {
	return f.delta.Empty() && len(f.commit.Moves) == 0 && len(f.commit.Watermarks) == 0 &&
		len(f.commit.Gaps) == 0 && len(f.commit.Bad) == 0
}

// deliver stores a flight: the same one, again and again, until it is certain
// what became of it.
func (c *Collector) deliver(f *flight) error {
	if !f.delta.Empty() {
		body, err := f.delta.MarshalBinary()
		if err != nil {
			return fmt.Errorf("write the delta: %w", err)
		}
		f.commit.Version, f.commit.Body = sketch.Version, body
	}
	f.delta = nil
	c.flying.Store(int64(len(f.commit.Body)))
	doubtful := false
	return c.insist(f.ctx, commitTask, func(ctx context.Context) error {
		if doubtful {
			done, err := c.store.Committed(ctx, f.commit.Writer, f.commit.Seq)
			if err != nil || done {
				return err
			}
			doubtful = false
		}
		err := c.store.Commit(ctx, f.commit)
		switch {
		case errors.Is(err, store.ErrDuplicate): // it had gone through
			return nil
		case errors.Is(err, store.ErrFenced):
			c.fenced.Inc()
			return backoff.Permanent(err)
		}
		doubtful = errors.Is(err, store.ErrAmbiguous)
		return err
	})
}

// land notes what is stored.
func (c *Collector) land(f *flight) {
	for _, at := range f.parts {
		p := at.partition
		p.shard.mu.Lock()
		p.stored, p.endedStored, p.saved, p.committed = at.to, at.ended, at.changes, true
		p.shard.mu.Unlock()
	}
	c.commits.Inc()
	c.deltaBytes.Add(float64(len(f.commit.Body)))
	c.samples.Add(float64(f.tally.good))
	c.gaps.Add(float64(len(f.commit.Gaps)))
	for reason, r := range f.tally.bad {
		c.bad.WithLabelValues(string(reason)).Add(float64(r.count))
	}
}

// discard ends a stretch, unless it has ended already: everything that is
// pending or on its way is thrown away, and every handle is dead.
func (c *Collector) discard(stretch int64, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stretch == c.stretch.Load() {
		c.discardLocked(cause)
	}
}

func (c *Collector) discardLocked(cause error) {
	c.lockShards()
	defer c.unlockShards()
	var samples int64
	for _, s := range c.shards {
		samples += s.discard()
		s.partitions = 0
	}
	clear(c.partitions)
	c.stretch.Add(1)
	c.abandon()
	c.discarded.Add(float64(samples))
	c.log.Warn("discard what is not stored; it will be read again", "cause", cause)
	c.bell.ring()
}
