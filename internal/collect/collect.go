// Package collect turns batches into sketches and sketches into rows, so that
// every sample is counted exactly once, or its loss is recorded as a gap.
//
// A Collector is the Sink of a source. Each claimed partition is bound to one shard: a
// sketch under a lock that is taken once a batch. Every commit interval all shards are
// sealed into one delta. One transaction stores it with the positions that it covers, the
// watermarks, the gaps and the counts of bad samples. Folding goes on meanwhile, into the
// next delta. When a key exceeds a partition's limit, the next commit does not wait for
// the interval, because an alert may be urgent.
//
// # Resets
//
// A delta holds samples of every partition, so that it is stored whole or not at all.
// When another collector has taken one of its positions, the Collector drops all pending
// samples, and every partition reads again from its stored position. That is a reset. It
// ends all handles: their calls return [source.ErrReclaim] from then on.
//
// A commit with a lost result is safe. It is stored with its positions, or neither is. A
// claim waits in the database for a commit in flight, and a later claim fences an earlier
// one. So a commit may be canceled at any moment, with a reset.
//
// # Bounds
//
// Config.PendingBytes bounds pending memory. Above it Fold blocks, which pauses the fetch.
// The collector waits for an unreachable store without limit. A partition far ahead of
// the slowest one in the log's time waits too. A partition a little ahead waits a moment,
// so that a backlog does not open each second again and again.
package collect

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// Store is the part of the store that a Collector uses; *store.Store implements it, and its
// comments are the contract.
type Store interface {
	Now(ctx context.Context) (time.Time, error)
	StartWriter(ctx context.Context, w store.Writer) error
	RestartWriter(ctx context.Context, w store.Writer) error
	ReportWriter(ctx context.Context, id string, status store.WriterStatus) error
	StopWriter(ctx context.Context, id string) error
	Claim(ctx context.Context, writer string, c store.Claim) (store.Position, error)
	Commit(ctx context.Context, c store.Commit) error
	IsCommitted(ctx context.Context, writer string, seq int64) (bool, error)
	StreamedTables(ctx context.Context) ([]sample.Target, error)
	OldestTargets(ctx context.Context, most int) ([]sample.Target, error)
	Watermarks(ctx context.Context) ([]store.Watermark, error)
}

// Collector counts the samples of a source. It is a source.Sink and a prometheus.Collector.
type Collector struct {
	config  Config
	store   Store
	log     *slog.Logger
	writer  string
	started time.Time
	shards  []*shard

	// turn is held during a commit: there is one commit at a time.
	turn chan struct{}
	// commitRequested requests a commit before the next tick, earlyRequested an early
	// commit as soon as one is allowed.
	commitRequested, earlyRequested chan struct{}
	// changed wakes each Fold that waits, after a change.
	changed broadcast
	// inFlight is the size in bytes of the delta in flight.
	inFlight atomic.Int64
	// resets counts the resets. It changes only under mu and the locks of all shards, so
	// that holding any of these locks keeps it constant.
	resets atomic.Int64
	// cause is the newest reset's.
	cause atomic.Pointer[error]

	// mu is taken before any shard's lock.
	mu         sync.Mutex
	partitions map[string]*partition
	lastRead   time.Time // when a batch came last, known when a report was made
	// abandoned has when any collector reported each subscribed partition of others last, by the
	// store's clock.
	abandoned    map[string]time.Time
	seq          int64
	acknowledged int64              // the newest stored commit
	cancelCommit context.CancelFunc // cancels the commit in flight; never nil

	health daemon.Health
	// source is watched for what it does not read; nil for none.
	source WatchedSource
	recent recentCounts
	// rejected is what the log has not told yet of bad samples.
	rejected rejections
	hot      hotKeys
	// hostClock compares this host's clock with the store's.
	hostClock hostClock
	*meters
}

// New returns a collector; Run stores its samples. seed keys the hash of all collectors of
// one store, which has it.
func New(config Config, st Store, seed uint64, logger *slog.Logger) *Collector {
	config = config.withDefaults()
	config.Sketch.Seed = seed
	config.Sketch.Limit = sketch.Load{Read: detect.PartitionRead, Write: detect.PartitionWrite}
	c := &Collector{
		config: config, store: st, log: logger, writer: rand.Text(), started: time.Now(), lastRead: time.Now(),
		turn: make(chan struct{}, 1), commitRequested: make(chan struct{}, 1), earlyRequested: make(chan struct{}, 1),
		hot:        hotKeys{keys: make(map[uint64]hotKey)},
		partitions: make(map[string]*partition), cancelCommit: func() {},
	}
	for range config.Shards {
		s := &shard{sketch: sketch.NewShard(config.Sketch)}
		if config.Hider != nil {
			s.hider = config.Hider()
		}
		c.shards = append(c.shards, s)
	}
	c.meters = newMeters(c)
	return c
}

// Writer returns the name of this collector in the store: one run of a process.
func (c *Collector) Writer() string { return c.writer }

// Reconfigure replaces the decoders, hiders and tables, as in Config.Decoder, Config.Hider and
// Config.Tables. A batch in progress keeps the former ones.
func (c *Collector) Reconfigure(decoder func(partition string) Decoder, hider func() *keypolicy.Hider, tables []sample.Target) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lockShards()
	defer c.unlockShards()
	c.config.Decoder, c.config.Hider, c.config.Tables = decoder, hider, tables
	for _, s := range c.shards {
		if s.hider = nil; hider != nil {
			s.hider = hider()
		}
	}
	for _, p := range c.partitions {
		p.handler.decoder = decoder(p.id.Name)
	}
}

// Run commits until ctx ends; ctx should end after the source has released its partitions.
// Run then commits the rest within the stop timeout and returns. Only one Run may be
// active.
func (c *Collector) Run(ctx context.Context) error {
	bounded, cancel := daemon.WithGrace(ctx, c.config.StopTimeout)
	defer cancel()
	if err := c.startWriter(bounded); err != nil {
		return fmt.Errorf("collector: %w", err)
	}
	c.placeKeys(bounded)
	c.knowTables(bounded)
	var reporting sync.WaitGroup
	reporting.Go(func() { c.report(ctx) })
	defer reporting.Wait()
	tick := time.NewTicker(c.config.CommitInterval)
	defer tick.Stop()
	var lastEarly time.Time
	var took time.Duration     // by the last commit
	var early <-chan time.Time // when an early commit is due; nil for never
	for {
		select {
		case <-ctx.Done():
			reporting.Wait()
			return c.finish(bounded)
		case <-c.earlyRequested:
			early = time.After(time.Until(lastEarly.Add(max(c.config.EarlyCommit, earlyRest*took))))
			continue
		case <-early:
			lastEarly = time.Now()
			c.early.Inc()
		case <-tick.C:
		case <-c.commitRequested:
		}
		// Any commit also serves as the requested early one. The next one comes an interval
		// after it.
		early = nil
		daemon.Drain(c.earlyRequested)
		tick.Reset(c.config.CommitInterval)
		begun := time.Now()
		// A failure is logged, and the samples are read again.
		_ = c.commit(bounded, always)
		took = time.Since(begun)
	}
}

// earlyRest is how many times as long as a commit took the store is left to others before an early
// one.
const earlyRest = 5

// startWriter makes the writer visible to operators; Commit does not need it.
func (c *Collector) startWriter(ctx context.Context) error {
	return c.retry(ctx, "start writer", func(ctx context.Context) error {
		if err := c.hostClock.measure(ctx, c.store.Now); err != nil {
			return err
		}
		return c.store.StartWriter(ctx, c.self())
	})
}

func (c *Collector) self() store.Writer {
	return store.Writer{ID: c.writer, Host: c.config.Host, Started: c.started}
}

func (c *Collector) finish(ctx context.Context) error {
	if err := c.commit(ctx, always); err != nil {
		return fmt.Errorf("collector: last commit; its samples will be read again: %w", err)
	}
	if err := c.store.StopWriter(ctx, c.writer); err != nil {
		c.log.Warn("mark this collector as stopped in the store", "error", err)
	}
	return nil
}

func always() bool { return true }

// Claim implements source.Sink.
func (c *Collector) Claim(ctx context.Context, claim source.Claim) (source.Partition, error) {
	wanted := store.Claim{
		PartitionID: store.PartitionID{Source: c.config.Source, Name: claim.Partition}, First: claim.First,
		Log: claim.Log.ID, Start: claim.Log.Start, Partitions: claim.Log.Partitions, Readers: claim.Log.Readers,
	}
	if claim.Log.Cluster != "" {
		wanted.Source = claim.Log.Cluster
	}
	var at store.Position
	err := c.retry(ctx, "claim "+claim.Partition, func(ctx context.Context) (err error) {
		if c.hostClock.offset.Load() == nil { // samples are compared with the store's time
			if err := c.hostClock.measure(ctx, c.store.Now); err != nil {
				return err
			}
		}
		at, err = c.store.Claim(ctx, c.writer, wanted)
		if errors.Is(err, store.ErrHeld) || errors.Is(err, store.ErrFormerLog) {
			return backoff.Permanent(err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, g := range at.Lost {
		if g.NoneKnown() {
			c.log.Warn("samples may be lost", "partition", claim.Partition, "since", g.Since, "reason", g.Reason)
			continue
		}
		c.gaps.Inc()
		c.log.Error("samples are lost", "partition", store.PartitionID{Source: g.Source, Name: g.Partition}.String(), "from", g.From, "to", g.To, "reason", g.Reason)
	}
	return c.register(at, claim.TableShard), nil
}

// register makes a handle of a claimed position. An older handle of the same partition that
// was not released causes a reset: its samples are pending, and the claim has fenced them.
func (c *Collector) register(at store.Position, tableShard bool) *partition {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.partitions[at.Name] != nil {
		c.resetLocked(errors.New("a partition was claimed again before it was released"))
	}
	p := newPartition(c, at, c.leastLoaded(), tableShard)
	c.partitions[at.Name] = p
	p.shard.partitions++
	return p
}

// leastLoaded returns the shard with the fewest partitions. The caller holds mu.
func (c *Collector) leastLoaded() *shard {
	least := c.shards[0]
	for _, s := range c.shards {
		if s.partitions < least.partitions {
			least = s
		}
	}
	return least
}

func (c *Collector) unregister(p *partition) {
	c.mu.Lock()
	if c.partitions[p.id.Name] == p {
		delete(c.partitions, p.id.Name)
		p.shard.partitions--
	}
	c.mu.Unlock()
	c.changed.notify()
}

func (c *Collector) pendingBytes() int64 {
	n := c.inFlight.Load()
	for _, s := range c.shards {
		n += s.pending.Load()
	}
	return n
}

// requestCommit requests a commit now. One pending request is enough.
func (c *Collector) requestCommit() { daemon.Signal(c.commitRequested) }
