package collect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/keyheat/keyheat/internal/intake"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

const commitTask = "commit"

// inFlightCommit is a sealed commit without an acknowledgement: its samples and the
// position of each partition.
type inFlightCommit struct {
	ctx      context.Context // ends also when the commit is canceled
	cancel   context.CancelFunc
	resets   int64
	delta    *sketch.Delta
	counters counters
	bytes    int64
	commit   store.Commit
	covered  []covered
}

// covered is how far a partition was when a commit was sealed.
type covered struct {
	partition *partition
	to        string
	ended     bool
	changes   uint64
}

// commit waits for its turn and stores all pending samples, unless needed reports false by
// then. It tries until ctx ends. An error means a reset: the pending samples will be read
// again.
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
	defer f.cancel()
	defer c.changed.notify()
	defer c.inFlight.Store(0)
	began := time.Now()
	if err := c.deliver(f); err != nil {
		c.reset(f.resets, err)
		c.discarded.Add(float64(f.counters.good))
		return err
	}
	c.acknowledge(f)
	c.commitSeconds.Observe(time.Since(began).Seconds())
	return nil
}

// seal takes the contents of all shards, and the positions they cover, at one moment. It
// returns nil if there is nothing to store.
func (c *Collector) seal(ctx context.Context) *inFlightCommit {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lockShards()
	defer c.unlockShards()
	f := &inFlightCommit{resets: c.resets.Load(), delta: sketch.NewDelta(c.config.Sketch)}
	for _, s := range c.shards {
		f.take(s)
	}
	for _, p := range c.partitions {
		f.cover(p)
	}
	now := time.Now()
	c.recent.add(counts{
		at: now, good: f.counters.good, missed: f.counters.countMissed(), ahead: f.counters.ahead,
		refused: f.counters.refused, bounded: f.boundedTables(),
	})
	f.commit.Bad = f.counters.rows(c.config.Source, now)
	if f.empty() {
		return nil
	}
	c.seq++
	f.commit.Writer, f.commit.Seq, f.commit.After = c.writer, c.seq, c.acknowledged
	f.ctx, f.cancel = context.WithCancel(ctx)
	c.cancelCommit = f.cancel
	c.inFlight.Store(f.bytes)
	return f
}

// boundedTables returns the tables whose loads are lower bounds, by the rule of analyze.
func (f *inFlightCommit) boundedTables() map[string]bool {
	if len(f.counters.unsized) == 0 {
		return nil
	}
	requests := make(map[sample.Target]int64)
	for i := range f.delta.Windows {
		requests[f.delta.Windows[i].Target] += f.delta.Windows[i].Total.Requests
	}
	bounded := make(map[string]bool)
	for target, n := range f.counters.unsized {
		if r := (intake.Reading{Good: requests[target], Unsized: *n}); r.AtLeast() {
			bounded[target.Name()] = true
		}
	}
	return bounded
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

// take empties a shard into the commit. The caller holds its lock.
func (f *inFlightCommit) take(s *shard) {
	f.bytes += s.pending.Load()
	s.sketch.Seal(f.delta)
	f.counters.add(s.counters)
	f.commit.Gaps = append(f.commit.Gaps, s.gaps...)
	f.commit.Moves = append(f.commit.Moves, s.moves...)
	s.counters, s.gaps, s.moves = counters{}, nil, nil
	s.updatePending()
}

// cover records how far a partition is. The caller holds its shard's lock.
func (f *inFlightCommit) cover(p *partition) {
	f.covered = append(f.covered, covered{partition: p, to: p.at, ended: p.ended, changes: p.changes})
	if p.at != p.stored || p.ended != p.endedStored {
		f.commit.Moves = append(f.commit.Moves, store.Move{
			PartitionID: p.id, Epoch: p.epoch, From: p.stored, To: p.at, Mark: p.mark, Ended: p.ended,
		})
	}
	if w, known := p.storedWatermark(); known {
		f.commit.Watermarks = append(f.commit.Watermarks, w)
	}
	if row, due := p.handler.keys.row(p.id, p.ended, time.Now()); due {
		f.commit.Keys = append(f.commit.Keys, row)
	}
}

func (f *inFlightCommit) empty() bool {
	return f.delta.Empty() && len(f.commit.Moves) == 0 && len(f.commit.Watermarks) == 0 &&
		len(f.commit.Gaps) == 0 && len(f.commit.Bad) == 0 && len(f.commit.Keys) == 0
}

// deliver repeats a commit until its result is certain.
func (c *Collector) deliver(f *inFlightCommit) error {
	if !f.delta.Empty() {
		body, err := f.delta.MarshalBinary()
		if err != nil {
			return fmt.Errorf("write the delta: %w", err)
		}
		f.commit.Version, f.commit.Body, f.commit.First = sketch.Version, body, f.delta.First()
	}
	f.delta = nil
	c.inFlight.Store(int64(len(f.commit.Body)))
	ambiguous := false
	return c.retry(f.ctx, commitTask, func(ctx context.Context) error {
		if ambiguous {
			done, err := c.store.IsCommitted(ctx, f.commit.Writer, f.commit.Seq)
			if err != nil || done {
				return err
			}
			ambiguous = false
		}
		err := c.store.Commit(ctx, f.commit)
		switch {
		case errors.Is(err, store.ErrDuplicate): // it had gone through
			return nil
		case errors.Is(err, store.ErrFenced):
			c.fenced.Inc()
			return backoff.Permanent(err)
		case errors.Is(err, store.ErrWentBack):
			// Restart the writer even if no samples are pending: the store may have lost
			// counted samples, and perhaps this writer's row.
			if err := c.store.RestartWriter(ctx, c.self()); err != nil {
				return err
			}
			c.setAcknowledged(0)
			return backoff.Permanent(err)
		}
		ambiguous = errors.Is(err, store.ErrAmbiguous)
		return err
	})
}

func (c *Collector) setAcknowledged(seq int64) {
	c.mu.Lock()
	c.acknowledged = seq
	c.mu.Unlock()
}

func (c *Collector) acknowledge(f *inFlightCommit) {
	c.setAcknowledged(f.commit.Seq)
	for _, at := range f.covered {
		p := at.partition
		p.shard.mu.Lock()
		p.stored, p.endedStored, p.saved, p.committed = at.to, at.ended, at.changes, true
		p.shard.mu.Unlock()
	}
	c.commits.Inc()
	c.deltaBytes.Add(float64(len(f.commit.Body)))
	c.samples.Add(float64(f.counters.good))
	c.gaps.Add(float64(len(f.commit.Gaps)))
	for reason, r := range f.counters.bad {
		c.bad.WithLabelValues(string(reason)).Add(float64(r.count))
	}
	c.rejected.log(c.log, time.Now(), &f.counters)
}

// reset throws away everything pending or in flight, unless another reset came
// first: since is the number of resets that the caller knows. Every handle is
// dead then.
func (c *Collector) reset(since int64, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if since == c.resets.Load() {
		c.resetLocked(cause)
	}
}

func (c *Collector) resetLocked(cause error) {
	c.lockShards()
	defer c.unlockShards()
	var samples int64
	for _, s := range c.shards {
		samples += s.discard()
		s.partitions = 0
	}
	clear(c.partitions)
	c.hot.clear() // the samples that made these keys hot may not be stored
	c.cause.Store(&cause)
	c.resets.Add(1)
	c.cancelCommit()
	c.discarded.Add(float64(samples))
	c.log.Warn("dropped the unstored samples; they will be read again", "cause", cause)
	c.changed.notify()
}
