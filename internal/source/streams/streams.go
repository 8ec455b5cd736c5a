// Package streams reads DynamoDB Streams: the writes of tables, straight from
// them.
//
// # Shards
//
// A stream is a forest of shards. A shard takes records for some hours, is
// closed, and has one child that goes on or two that share its keys; it is gone
// 24 hours after its last record. All that is known of shards lies in the
// Ledger, which the collectors share: which there are, which of them has to end
// before another may be read, who reads which, and (through the Sink) up to
// where. So
//
//   - a shard is read by one collector at a time, and taken over when that dies;
//   - a child is read from its TRIM_HORIZON when its parent has ended: in the
//     Sink's books, or because it is gone;
//   - the shards of an older stream of a table, which was disabled, end before
//     those of a newer one are read;
//   - the children of a closed shard are in the Ledger before its end is in the
//     Sink: each of them holds the seconds that it may have records of open.
//
// # Positions
//
// A position is a word or a sequence number; see position. Reading goes on
// after the last record that was counted, whatever became of the iterator.
// Within one shard the log has neither duplicates nor changes of order, so that
// positions alone count each record once.
//
// # The end of an open shard
//
// GetRecords does not say how far behind it is, and an empty page may be a hole
// in the middle of a shard: its iterator has moved on, past a stretch without
// records. See idleness for when an end is believed.
//
// # What is lost
//
// Records live for 24 hours. What was trimmed before it was read is a gap, with
// the bounds that are known. The first start promises nothing from before it.
package streams

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/keyheat/keyheat/internal/health"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/streams/api"
)

// Defaults of Config.
const (
	DefaultRound          = 2 * time.Second
	DefaultLease          = 15 * time.Second
	DefaultDiscovery      = 30 * time.Second
	DefaultRequestTimeout = 10 * time.Second
	DefaultReleaseTimeout = 5 * time.Second
	DefaultPatience       = 10 * time.Second
)

// Config says which tables to read, and how patiently. A zero field takes its
// default.
type Config struct {
	// Tables are the names of the tables, whose streams are read from the oldest
	// record that is left.
	Tables []string
	// Known answers why the records of a table cannot be understood yet, and nil
	// when they can: its shards are left alone until then. Nil knows every table.
	Known func(table string) error

	// Round is how often the collectors look who is alive and share the shards.
	Round time.Duration
	// Lease is how long a collector that is silent keeps its shards.
	Lease time.Duration
	// Discovery is how often one of the collectors lists all shards. The children
	// of a shard that ends are looked for at once.
	Discovery time.Duration
	// RequestTimeout bounds a request to AWS, and one to the Ledger.
	RequestTimeout time.Duration
	// ReleaseTimeout bounds the last commit of a shard that is given up.
	ReleaseTimeout time.Duration
	// Patience is how long something may fail before the source says that it is
	// not ready: a throttled request is no outage.
	Patience time.Duration
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.Round, DefaultRound}, {&c.Lease, DefaultLease}, {&c.Discovery, DefaultDiscovery},
		{&c.RequestTimeout, DefaultRequestTimeout}, {&c.ReleaseTimeout, DefaultReleaseTimeout},
		{&c.Patience, DefaultPatience},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if c.Known == nil {
		c.Known = func(string) error { return nil }
	}
	return c
}

// Validate says what is wrong with a configuration, every fault at once.
func (c Config) Validate() error {
	c = c.withDefaults()
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(len(c.Tables) == 0, "no table: name at least one")
	for _, t := range c.Tables {
		fault(t == "" || strings.ContainsAny(t, "/: "), "%q is no table: write its name alone", t)
	}
	tables := slices.Sorted(slices.Values(c.Tables))
	fault(len(slices.Compact(tables)) < len(c.Tables), "a table is named twice")
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"round", c.Round}, {"lease", c.Lease}, {"discovery", c.Discovery},
		{"request timeout", c.RequestTimeout}, {"release timeout", c.ReleaseTimeout}, {"patience", c.Patience},
	} {
		fault(d.value < time.Millisecond || d.value > time.Hour, "%s is %s: must be from 1ms to 1h", d.name, d.value)
	}
	fault(c.Lease < 3*c.Round, "the lease %s is less than three rounds of %s", c.Lease, c.Round)
	return errors.Join(faults...)
}

// Streams reads the streams of tables as one of the collectors that share them.
// It is a prometheus.Collector.
type Streams struct {
	config Config
	client *api.Client
	ledger Ledger
	log    *slog.Logger

	tenure tenure
	// children paces the requests that each collector makes for its own shards.
	children *api.Pacer
	// wake asks for a round before its time.
	wake chan struct{}

	discovery discovery

	mu      sync.Mutex
	readers map[string]*reader // by the shard's name
	heirs   heirs

	health health.Status
	*meters
}

// New returns a source that has asked for nothing yet. It fails only on a
// configuration that Validate refuses.
func New(config Config, server api.DynamoDBStreams, ledger Ledger, log *slog.Logger) (*Streams, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("streams: %w", err)
	}
	config = config.withDefaults()
	s := &Streams{
		config: config, ledger: ledger, log: log,
		children: api.NewPacer(api.ChildrenRate),
		wake:     make(chan struct{}, 1), readers: make(map[string]*reader),
		discovery: newDiscovery(),
	}
	s.meters = newMeters(s)
	s.client = api.New(server, config.RequestTimeout, s.observe)
	s.health.Fail(health.Whole, "not yet one of the collectors that share the shards")
	return s, nil
}

// observe counts a request.
func (s *Streams) observe(operation string, err error) {
	s.requests.WithLabelValues(operation).Inc()
	if errors.Is(err, api.ErrThrottled) {
		s.errors.WithLabelValues(troubleThrottled).Inc()
	}
}

// Ready returns why samples do not flow, a sentence each; empty when they do.
// A table may have thousands of shards, which mostly fail for one reason: it is
// reported once.
func (s *Streams) Ready() []string {
	return s.health.Lasting(time.Now(), s.config.Patience, api.TableOf)
}

// Run reads until ctx ends; it waits out everything else. It returns within the
// release timeout and a few seconds. One Run at a time.
func (s *Streams) Run(ctx context.Context, sink source.Sink) error {
	var all sync.WaitGroup
	all.Go(func() { s.discover(ctx) })
	for ctx.Err() == nil {
		if err := s.round(ctx, sink, &all); err != nil && ctx.Err() == nil {
			s.trouble(health.Whole, troubleLedger, err)
		}
		waitFor(ctx, s.config.Round, s.wake)
	}
	all.Wait()
	s.leave(ctx)
	return nil
}

// leave gives up what is left, so that the others need not wait for the lease
// to run out.
func (s *Streams) leave(ctx context.Context) {
	s.health.Fail(health.Whole, "stopped")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.ReleaseTimeout)
	defer cancel()
	if err := s.ledger.Leave(ctx); err != nil {
		s.log.Warn("leave the collectors that share the shards; they wait for the lease to run out", "error", err)
	}
}

// hurry asks for a round now. One that waits already is enough.
func (s *Streams) hurry() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// trouble notes, counts and, when it is news, logs what is wrong with a part:
// a shard, a table, or the membership.
func (s *Streams) trouble(part, kind string, err error) {
	s.errors.WithLabelValues(kind).Inc()
	if s.health.FailAfter(part, err.Error(), time.Now()) {
		s.log.Warn("samples do not flow", "part", part, "kind", kind, "error", err)
	}
}

// waitFor waits for a time, ctx, or a word, whichever comes first.
func waitFor(ctx context.Context, d time.Duration, word <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-word:
	case <-timer.C:
	}
}
