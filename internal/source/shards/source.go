// Package shards reads sharded logs, such as DynamoDB Streams. The shards of such a log
// open, close, and continue in children. [Log] is the API of one kind of log;
// source/shards/streams implements it.
//
// # Shards
//
// A stream is a forest of shards. A shard takes records for some time and closes. Then it
// has one child that continues it, or two that share its keys. It disappears once its
// last record is older than the log's retention. The collectors share their knowledge of
// shards in the Registry: the shards, the order between them, and their readers. The Sink
// has their positions. So
//
//   - a shard is read by one collector at a time, and taken over when that dies;
//   - a child is read from its TRIM_HORIZON when its parent has ended: in the
//     Sink, or because the parent is gone;
//   - the shards of an older stream of a table end before the shards of a newer
//     one are read;
//   - a closed shard's children are in the Registry before its end is in the
//     Sink: no second is called complete while they may have records of it.
//
// # Positions
//
// A position is a word or a sequence number; see [Position]. Reading continues
// after the last record that was counted, even with a new iterator.
// Within one shard the log has neither duplicates nor changes of order, so that
// positions alone count each record once.
//
// # The end of an open shard
//
// The log does not report how far behind a reader is. An empty page may be a hole in the
// middle of a shard: its iterator has moved past a range without records.
// [idleness] judges when the end is reached.
//
// # Losses
//
// Records that were trimmed before they were read are a gap, with the known bounds.
// Records from before the first start may be missing without a gap.
package shards

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Config has the tables to read, and the timeouts. A zero field takes its default.
type Config struct {
	// Name names the source in the Registry, and Member this collector.
	Name, Member string
	// Tables are the names of the tables. Their streams are read from the oldest remaining
	// record.
	Tables []string
	// Known returns the reason why the records of a table cannot be decoded yet; nil if
	// they can. The table's shards are not read until then. A nil Known accepts every
	// table.
	Known func(table string) error

	// Round is how often a collector renews its membership, and the living collectors
	// divide the shards.
	Round time.Duration
	// Lease is how long a silent collector keeps its shards.
	Lease time.Duration
	// Discovery is how often one of the collectors lists all shards. The children
	// of a shard that ends are listed at once.
	Discovery time.Duration
	// RequestTimeout bounds a request to AWS, and one to the Registry.
	RequestTimeout time.Duration
	ReleaseTimeout time.Duration
	// Patience is how long requests may fail before the source is not ready. A throttled
	// request is no failure.
	Patience time.Duration
	// MemoryBytes bounds the uncounted pages of all shards together.
	MemoryBytes int64
}

// Default returns the defaults of Config.
func Default() Config {
	return Config{
		Known: func(string) error { return nil },
		Round: 2 * time.Second, Lease: 15 * time.Second, Discovery: 30 * time.Second,
		RequestTimeout: 10 * time.Second, ReleaseTimeout: 3 * time.Second, Patience: 10 * time.Second,
		MemoryBytes: 96 << 20,
	}
}

func (c Config) withDefaults() Config { return options.OrDefault(c, Default()) }

// Validate returns every fault of the tables' names at once.
func (c Config) Validate() error {
	var faults options.Faults
	faults.Check(len(c.Tables) == 0, "no table: name at least one")
	for _, t := range c.Tables {
		faults.Check(t == "" || !sample.IsName(t), "%.300q is no table: write its name alone, %s", t, sample.NameRule)
	}
	tables := slices.Sorted(slices.Values(c.Tables))
	faults.Check(len(slices.Compact(tables)) < len(c.Tables), "a table is named twice")
	return faults.Err()
}

// Source reads the streams of tables as one of the collectors that share them.
// It is a prometheus.Collector.
type Source struct {
	config   Config
	client   *client
	registry Registry
	log      *slog.Logger
	memory   *source.Budget

	ownership ownership
	// listingPacer paces the requests that list whole streams, made by one collector at a
	// time. childrenPacer paces each collector's requests for the children of its own
	// shards.
	listingPacer, childrenPacer *pacer
	// roundRequested requests a round before the next tick.
	roundRequested chan struct{}

	discovery discovery
	lease     store.Lease // to list shards; no name before the first one

	mu            sync.Mutex
	subscribed    []string           // the shards that may be read
	readers       map[string]*reader // by the shard's name
	childrenFound childrenFound

	health daemon.Health
	*meters
}

// New returns a source that reads a log and has made no request yet. It fails only on a
// configuration that Validate refuses.
func New(config Config, api Log, registry Registry, log *slog.Logger) (*Source, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("streams: %w", err)
	}
	config = config.withDefaults()
	traits := api.Traits()
	s := &Source{
		config: config, registry: registry, log: log, memory: source.NewBudget(config.MemoryBytes),
		listingPacer: newPacer(traits.ListingRate), childrenPacer: newPacer(traits.ChildrenRate),
		roundRequested: make(chan struct{}, 1), readers: make(map[string]*reader),
		discovery: newDiscovery(),
	}
	s.meters = newMeters(s)
	s.client = &client{log: api, traits: traits, timeout: config.RequestTimeout, observe: s.observe}
	s.health.Fail(daemon.Whole, "not yet one of the collectors that share the shards")
	return s, nil
}

func (s *Source) observe(operation string, err error) {
	s.requests.WithLabelValues(operation).Inc()
	if errors.Is(err, ErrThrottled) {
		s.errors.WithLabelValues(failureThrottled).Inc()
	}
}

// Ready returns the reasons why no samples are read, a sentence each; empty if all is well.
// A table may have thousands of shards with the same failure, which is reported once.
func (s *Source) Ready() []string {
	return s.health.Lasting(time.Now(), s.config.Patience, TableOf)
}

// Unread returns the tables and shards that this collector should read and cannot.
func (s *Source) Unread() []daemon.Fault { return s.health.Faults() }

// Subscription returns the shards that the collectors should read.
func (s *Source) Subscription() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subscribed
}

// Run reads until ctx ends; every failure is retried. It returns within the release timeout
// and a few seconds. Only one Run may be active.
func (s *Source) Run(ctx context.Context, sink source.Sink) error {
	var all sync.WaitGroup
	all.Go(func() { s.discover(ctx) })
	for ctx.Err() == nil {
		if err := s.round(ctx, sink, &all); err != nil && ctx.Err() == nil {
			s.reportFailure(daemon.Whole, failureRegistry, err)
		}
		daemon.Wait(ctx, s.config.Round, s.roundRequested)
	}
	all.Wait()
	s.leave(ctx)
	return nil
}

// leaveTimeout bounds the end of the membership: without it the lease expires.
const leaveTimeout = time.Second

// leave ends the membership, so that the others need not wait for the lease to
// expire.
func (s *Source) leave(ctx context.Context) {
	s.health.Fail(daemon.Whole, "stopped")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	var err error
	if s.lease.Name != "" {
		err = s.registry.ReleaseLease(ctx, s.lease)
	}
	if err = errors.Join(err, s.registry.Leave(ctx, s.config.Name, s.config.Member)); err != nil {
		s.log.Warn("cannot end the membership; the other collectors wait for the lease to expire", "error", err)
	}
}

// requestRound requests a round now. One pending request is enough.
func (s *Source) requestRound() {
	daemon.Signal(s.roundRequested)
}

// reportFailure records and counts a failure of a part (a shard, a table, or the
// membership), and logs it if it is new.
func (s *Source) reportFailure(part, kind string, err error) {
	s.errors.WithLabelValues(kind).Inc()
	if s.health.FailAfter(part, err.Error(), time.Now()) {
		s.log.Warn("no samples are read", "part", part, "kind", kind, "error", err)
	}
}
