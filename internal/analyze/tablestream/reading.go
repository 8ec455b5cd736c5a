package tablestream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/shards"
	"github.com/keyheat/keyheat/sample"
)

// errNoStream means that the table has no stream, and had none in the last 24 hours.
var errNoStream = errors.New("the table has no stream")

const (
	// patience is how long the requests of one kind may fail before the reading ends early.
	// Throttled requests do not count as failures.
	patience = time.Minute
	// childrenWithin is how long after the beginning DynamoDB may take to list the children
	// of a shard that closed before.
	childrenWithin = 30 * time.Second
)

// reading reads the remaining records of one table's streams once, with the ordinary
// source. It wraps the source's Log, its Registry (registry.go) and its Sink, and keeps all
// state in memory.
//
// All shards of a stream are read at once, children beside their parents. The order does
// not matter, because analyze counts changes by the second in which each was written. An
// older stream of the table is read before its successor.
//
// Each shard begins at its first record since a time. The reading ends, for every shard,
// with the second in which run began.
type reading struct {
	shards.Log
	table string
	// since is the time of the oldest change to count, in whole seconds.
	since time.Time
	// follow continues after all existing records are read, until the context ends.
	follow bool
	// pageEvery is the least time between two requests for records of a shard.
	pageEvery time.Duration
	// onListed, if set, is called once with the number of open shards.
	onListed func(open int)

	sink  source.Sink
	stop  context.CancelFunc
	began time.Time
	until time.Time // zero with follow

	mu       sync.Mutex
	shards   []*shard
	listed   bool                 // all shards of the newest stream are known
	newest   string               // stream
	disabled bool                 // the newest stream takes no more records
	open     map[string]bool      // shards that were open when listed last, by stream and ID
	failing  map[string]time.Time // by operation: since when its requests fail
	counts   counts
	stopped  error // why the reading ended early
}

// run reads until all records are read, or until ctx ends, which is no error. Unread
// records are gaps in the Sink. run returns an error only if it could not list any shard.
func (r *reading) run(ctx context.Context, sink source.Sink) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	r.mu.Lock()
	r.began, r.sink, r.stop = time.Now(), sink, stop
	r.open, r.failing = make(map[string]bool), make(map[string]time.Time)
	if !r.follow {
		r.until = r.began.Truncate(time.Second)
	}
	r.mu.Unlock()
	// The lease is long, because there are no other readers.
	config := shards.Config{Member: me, Tables: []string{r.table}, Round: time.Second, Lease: time.Hour}
	s, err := shards.New(config, r, r, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if err := s.Run(working, r); err != nil {
		return err
	}
	if len(r.shards) == 0 && r.stopped != nil {
		return r.stopped
	}
	return r.reportGap(context.WithoutCancel(ctx), ctx.Err() != nil)
}

// reportGap records the unread range, if any, in the Sink.
func (r *reading) reportGap(ctx context.Context, interrupted bool) error {
	a := r.status()
	reason := "interrupted: "
	switch {
	case r.stopped != nil:
		reason = r.stopped.Error() + "; "
	case !interrupted || r.follow || r.listed && a.done == a.shards:
		return nil
	}
	handle, err := r.sink.Claim(ctx, source.Claim{Partition: r.table, First: string(shards.TrimHorizon)})
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	reason += fmt.Sprintf("%d of %d shards were read to their end", a.done, a.shards)
	if err := handle.Gap(ctx, sample.Gap{Since: r.since, Until: r.until, Reason: reason}); err != nil {
		return fmt.Errorf("record a gap: %w", err)
	}
	return handle.Release(ctx)
}

// fail ends the reading. The first error counts. The caller holds the lock.
func (r *reading) fail(err error) {
	if r.stopped == nil {
		r.stopped = err
	}
	r.stop()
}

// Traits implements shards.Log, at the reading's rate. The reading answers most requests
// for children itself, so they need no pace.
func (r *reading) Traits() shards.Traits {
	t := r.Log.Traits()
	t.PageEvery, t.FewRecords, t.ChildrenRate = r.pageEvery, t.MaxRecords, rate.Inf
	return t
}

// count counts a request, and runs note under the lock. It ends the reading if the request
// would fail again, or fails for too long.
func (r *reading) count(ctx context.Context, operation string, err error, note func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && ctx.Err() != nil {
		r.counts.cut++
		return
	}
	if operation == r.Log.Traits().Operations.Read {
		r.counts.requests++
	} else {
		r.counts.others++
	}
	switch {
	case errors.Is(err, shards.ErrThrottled):
		r.counts.throttled++
	case errors.Is(err, shards.ErrDenied):
		r.fail(err)
	case err != nil && !errors.Is(err, shards.ErrGone) && !errors.Is(err, shards.ErrTrimmed) && !errors.Is(err, shards.ErrExpired):
		if since, fails := r.failing[operation]; !fails {
			r.failing[operation] = time.Now()
		} else if time.Since(since) > patience {
			r.fail(err)
		}
		return
	}
	delete(r.failing, operation)
	note()
}

func (r *reading) Streams(ctx context.Context, table, cursor string) ([]string, string, error) {
	streams, next, err := r.Log.Streams(ctx, table, cursor)
	r.count(ctx, "ListStreams", err, func() {
		r.newest = max(r.newest, slices.Max(append(streams, ""))) // labels are times
		if err == nil && next == "" && r.newest == "" {
			r.fail(errNoStream)
		}
	})
	return streams, next, err
}

// Describe implements shards.Log. It requests the children of a shard only if no listing
// showed them. It hides that a stream is disabled from listings: the records of a disabled
// stream are read as well.
func (r *reading) Describe(ctx context.Context, stream, cursor, parent string) (shards.Description, error) {
	if known := r.children(stream, parent); len(known) > 0 {
		return shards.Description{Shards: known}, nil
	}
	d, err := r.Log.Describe(ctx, stream, cursor, parent)
	r.count(ctx, "DescribeStream", err, func() {
		if errors.Is(err, shards.ErrGone) && stream == r.newest {
			r.fail(err)
		}
		for _, s := range d.Shards {
			r.open[stream+s.ID] = s.Open
		}
		if err == nil && stream == r.newest {
			r.disabled = d.Disabled
		}
	})
	// A shard that closed later has no children with records to read. Listings find the
	// children to follow.
	late := time.Since(r.began) > childrenWithin
	d.Disabled = parent != "" && (d.Disabled || late)
	return d, err
}

// children returns the known children of a shard.
func (r *reading) children(stream, parent string) (known []shards.Described) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.shards {
		if parent != "" && s.stream == stream && s.parent == parent {
			known = append(known, shards.Described{ID: s.id, Parent: parent})
		}
	}
	return known
}

func (r *reading) Open(ctx context.Context, stream, shard string, p shards.Position) (string, error) {
	iterator, err := r.Log.Open(ctx, stream, shard, p)
	r.count(ctx, "GetShardIterator", err, func() {})
	return iterator, err
}

func (r *reading) Read(ctx context.Context, stream, iterator string, limit int32, buffer []byte) (shards.Page, error) {
	page, err := r.Log.Read(ctx, stream, iterator, limit, buffer)
	r.count(ctx, "GetRecords", err, func() {})
	return page, err
}
