package shards

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/store"
)

const (
	// pageTries is how often a page of a listing is requested before other tables have
	// their turn. The next attempt continues at that page.
	pageTries = 6
	// parentProbes is how many parents are probed at once.
	parentProbes = 8
)

// discovery is the state between two listings of shards.
type discovery struct {
	// listings are the unfinished listings, by stream.
	listings map[string]*listing
	// finished are the disabled streams without new shards.
	finished map[string]bool
}

func newDiscovery() discovery {
	return discovery{listings: make(map[string]*listing), finished: make(map[string]bool)}
}

// listing is the list of all shards of a stream, read page by page.
type listing struct {
	shards map[string]string // the parent of each shard; may be empty
	cursor string            // empty at the beginning
	// disabled reports whether the stream was disabled before the first page was requested.
	disabled bool
}

// discover keeps the Registry complete until ctx ends. It finds the shards of new streams,
// and shards whose parents nobody has read to the end.
func (s *Source) discover(ctx context.Context) {
	for _, t := range s.config.Tables {
		s.health.Fail(t, "its shards are not known yet")
	}
	for ctx.Err() == nil {
		again := s.config.Discovery
		lead, err := s.lead(ctx)
		if err != nil && ctx.Err() == nil {
			s.reportFailure(daemon.Whole, failureRegistry, err)
			again = s.config.Round
		}
		for _, t := range s.config.Tables {
			if !lead {
				s.health.Heal(t) // the leader reports it
			} else if !s.discoverTable(ctx, t) {
				again = s.config.Round
			}
		}
		daemon.Pause(ctx, again)
	}
}

// lead reports whether this collector lists shards. The lease outlasts the next listing, so
// that a living leader keeps it.
func (s *Source) lead(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.RequestTimeout)
	defer cancel()
	lease, lead, err := s.registry.AcquireLease(ctx, "shards of "+s.config.Name, s.config.Member, s.config.Discovery+s.config.Lease)
	if err != nil {
		return false, fmt.Errorf("acquire the lease to list shards: %w", err)
	}
	if lead {
		s.lease = lease
	}
	return lead, nil
}

// discoverTable lists the shards of a table's streams, the oldest stream first,
// and reports whether that succeeded.
func (s *Source) discoverTable(ctx context.Context, table string) bool {
	enabled, err := s.listTable(ctx, table)
	switch {
	case ctx.Err() != nil:
		return true
	case errors.Is(err, ErrThrottled):
		s.reportFailure(table, failureDiscovery, err)
		return false
	case errors.Is(err, ErrGone):
		err = s.client.traits.NoTable
	case err == nil && !enabled:
		err = s.client.traits.NoStream
	}
	if err != nil {
		s.reportFailure(table, failureDiscovery, err)
		return false
	}
	if s.health.Heal(table) {
		s.log.Info("the table's shards are known", "table", table)
	}
	return true
}

func (s *Source) listTable(ctx context.Context, table string) (enabled bool, err error) {
	all, err := s.listStreams(ctx, table)
	if err != nil {
		return false, err
	}
	for _, stream := range all {
		if s.discovery.finished[stream] {
			continue
		}
		l, err := s.list(ctx, stream)
		if errors.Is(err, ErrGone) && stream != all[len(all)-1] {
			continue // an old stream, gone since it was listed
		}
		if err != nil {
			return false, err
		}
		if err := s.registerListing(ctx, stream, l); err != nil {
			return false, err
		}
		delete(s.discovery.listings, stream)
		if l.disabled {
			s.discovery.finished[stream] = true
		}
		enabled = !l.disabled
	}
	return enabled, nil
}

// listStreams returns the streams that a table has or had, the oldest first.
func (s *Source) listStreams(ctx context.Context, table string) ([]string, error) {
	var all []string
	for cursor := ""; ; {
		if err := s.listingPacer.wait(ctx); err != nil {
			return nil, err
		}
		p, err := s.client.streams(ctx, table, cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, p.names...)
		if cursor = p.next; cursor == "" {
			return OrderStreams(all, s.client.log.Parts), nil
		}
	}
}

// list reads all shards of a stream. If it fails, the next attempt continues with the pages
// read so far.
func (s *Source) list(ctx context.Context, stream string) (*listing, error) {
	l := s.discovery.listings[stream]
	if l == nil {
		l = &listing{shards: make(map[string]string)}
		s.discovery.listings[stream] = l
	}
	for {
		d, err := s.listPage(ctx, stream, l.cursor)
		if err != nil {
			if !errors.Is(err, ErrThrottled) && !errors.Is(err, ErrServer) {
				delete(s.discovery.listings, stream) // the cursor may be at fault
			}
			return nil, err
		}
		if l.cursor == "" {
			l.disabled = d.Disabled
		}
		for _, h := range d.Shards {
			l.shards[h.ID] = h.Parent
		}
		if l.cursor = d.Next; l.cursor == "" {
			return l, nil
		}
	}
}

// listPage requests a page, a bounded number of times.
func (s *Source) listPage(ctx context.Context, stream, cursor string) (Description, error) {
	d, err := backoff.Retry(ctx, func() (Description, error) {
		if err := s.listingPacer.wait(ctx); err != nil {
			return Description{}, backoff.Permanent(err)
		}
		d, err := s.client.describe(ctx, stream, cursor, "")
		if errors.Is(err, ErrGone) || errors.Is(err, ErrDenied) {
			return d, backoff.Permanent(err)
		}
		return d, err
	}, backoff.WithBackOff(newBackoff()), backoff.WithMaxTries(pageTries), backoff.WithMaxElapsedTime(0))
	return d, daemon.UnwrapPermanent(err)
}

// registerListing adds the shards of a whole listing to the Registry.
func (s *Source) registerListing(ctx context.Context, stream string, l *listing) error {
	bounded, cancel := context.WithTimeout(ctx, s.config.RequestTimeout)
	defer cancel()
	known, err := s.registry.Lineage(bounded, s.config.Name, stream)
	if err != nil {
		return fmt.Errorf("read the known shards: %w", err)
	}
	if known.Listed.IsZero() { // the table may have been read before
		if known.Listed, err = s.registry.LastListed(bounded, s.config.Name, s.client.family(stream)); err != nil {
			return fmt.Errorf("read the table's other streams: %w", err)
		}
	}
	found, err := s.newShards(ctx, stream, l, known)
	if err != nil {
		return err
	}
	bounded, cancel = context.WithTimeout(ctx, s.config.RequestTimeout)
	defer cancel()
	if err := s.registry.RegisterShards(bounded, s.config.Name, stream, found, true); err != nil {
		return fmt.Errorf("register shards: %w", err)
	}
	if len(found) > 0 {
		s.log.Info("found shards", "stream", stream, "shards", len(found))
		s.requestRound()
	}
	return nil
}

// newShards returns the unknown shards. A shard whose parent is neither known nor listed
// has no predecessor: that parent is gone. The gap counts as a loss, except in the first
// listing of the table. Listings lag, so that the parent is probed by its name first.
func (s *Source) newShards(ctx context.Context, stream string, l *listing, stored store.Stream) ([]store.NewShard, error) {
	known := set(stored.Names)
	var found []store.NewShard
	unknownParents := make(map[string]bool) // whether they exist
	for shard, parent := range l.shards {
		n := store.NewShard{Name: s.client.shardName(stream, shard), First: string(TrimHorizon)}
		if known[n.Name] {
			continue
		}
		if parent != "" {
			n.After = s.client.shardName(stream, parent)
			if _, listed := l.shards[parent]; !listed && !known[n.After] {
				unknownParents[parent] = false
			}
		}
		found = append(found, n)
	}
	if err := s.probeShards(ctx, stream, unknownParents); err != nil {
		return nil, err
	}
	orphan := func(n *store.NewShard) {
		if !stored.Listed.IsZero() {
			n.First, n.UnseenSince = string(orphaned), stored.Listed
		}
		n.After = ""
	}
	for i := range found {
		parent := shardID(found[i].After)
		if alive, unknown := unknownParents[parent]; unknown && !alive {
			orphan(&found[i])
		}
	}
	for parent, alive := range unknownParents {
		if alive { // its own parent is not known
			n := store.NewShard{Name: s.client.shardName(stream, parent), First: string(TrimHorizon)}
			orphan(&n)
			found = append(found, n)
		}
	}
	return found, nil
}

// probeShards determines whether each of the shards exists.
func (s *Source) probeShards(ctx context.Context, stream string, shards map[string]bool) error {
	var g errgroup.Group
	g.SetLimit(parentProbes)
	var mu sync.Mutex
	for _, shard := range slices.Collect(maps.Keys(shards)) {
		g.Go(func() error {
			alive, err := s.exists(ctx, stream, shard)
			mu.Lock()
			defer mu.Unlock()
			shards[shard] = alive
			return err
		})
	}
	return g.Wait()
}

func (s *Source) exists(ctx context.Context, stream string, shard string) (bool, error) {
	return backoff.Retry(ctx, func() (bool, error) {
		_, err := s.client.open(ctx, stream, shard, TrimHorizon)
		if errors.Is(err, ErrGone) || errors.Is(err, ErrTrimmed) {
			return false, nil
		}
		return err == nil, err
	}, backoff.WithBackOff(newBackoff()), backoff.WithMaxTries(pageTries), backoff.WithMaxElapsedTime(0))
}

// newBackoff returns a backoff that grows from a quarter of a second to five, with jitter.
func newBackoff() *backoff.ExponentialBackOff {
	return daemon.NewBackOff(250*time.Millisecond, 5*time.Second)
}
