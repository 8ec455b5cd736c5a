package streams

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/health"
	"github.com/keyheat/keyheat/internal/retry"
	"github.com/keyheat/keyheat/internal/source/streams/api"
)

const (
	// pageTries is how often a page of a listing is requested before other tables
	// have their turn. The listing goes on where it was.
	pageTries = 6
	// parentProbes is how many parents are probed at once.
	parentProbes = 8
)

// discovery is the state that is kept between two listings of shards.
type discovery struct {
	// listings are the unfinished ones, by stream.
	listings map[api.ARN]*listing
	// finished are the disabled streams of which nothing new can come.
	finished map[api.ARN]bool
}

func newDiscovery() discovery {
	return discovery{listings: make(map[api.ARN]*listing), finished: make(map[api.ARN]bool)}
}

// listing is the list of all shards of a stream, read page by page.
type listing struct {
	shards map[string]string // the parent of each, which may be empty
	cursor *string           // nil at the beginning
	// disabled is whether the stream was, before the first page was requested.
	disabled bool
}

// discover keeps the Registry complete, until ctx ends: with the shards that no
// parent's end reveals, of new streams and of changes that nobody saw.
func (s *Source) discover(ctx context.Context) {
	for _, t := range s.config.Tables {
		s.health.Fail(t, "its shards are not known yet")
	}
	for ctx.Err() == nil {
		again := s.config.Discovery
		lead, err := s.lead(ctx)
		if err != nil && ctx.Err() == nil {
			s.reportFailure(health.Whole, failureRegistry, err)
			again = s.config.Round
		}
		for _, t := range s.config.Tables {
			if !lead {
				s.health.Heal(t) // the leader reports it
			} else if !s.discoverTable(ctx, t) {
				again = s.config.Round
			}
		}
		retry.Pause(ctx, again)
	}
}

// lead reports whether this collector is the one that lists. The lease outlasts the
// next listing, so that the leader stays the same as long as it lives.
func (s *Source) lead(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.RequestTimeout)
	defer cancel()
	lead, err := s.registry.Lead(ctx, s.config.Discovery+s.config.Lease)
	if err != nil {
		return false, fmt.Errorf("acquire the lease to list shards: %w", err)
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
	case errors.Is(err, api.ErrThrottled):
		s.reportFailure(table, failureDiscovery, err)
		return false
	case errors.Is(err, api.ErrGone):
		err = errors.New("the table, or its stream, does not exist: create it, or remove it from streams.tables")
	case err == nil && !enabled:
		err = errors.New("it has no enabled stream: enable one with NEW_AND_OLD_IMAGES")
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
	all, err := s.client.ListStreams(ctx, table)
	if err != nil {
		return false, err
	}
	for _, stream := range all {
		if s.discovery.finished[stream] {
			continue
		}
		l, err := s.list(ctx, stream)
		if errors.Is(err, api.ErrGone) && stream != all[len(all)-1] {
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

// list reads all shards of a stream. What it has read when it fails is kept for
// the next attempt.
func (s *Source) list(ctx context.Context, stream api.ARN) (*listing, error) {
	l := s.discovery.listings[stream]
	if l == nil {
		l = &listing{shards: make(map[string]string)}
		s.discovery.listings[stream] = l
	}
	for {
		d, err := s.listPage(ctx, stream, l.cursor)
		if err != nil {
			if !errors.Is(err, api.ErrThrottled) && !errors.Is(err, api.ErrServer) {
				delete(s.discovery.listings, stream) // the cursor may be what is wrong
			}
			return nil, err
		}
		if l.cursor == nil {
			l.disabled = d.StreamStatus == types.StreamStatusDisabled
		}
		for _, h := range d.Shards {
			l.shards[aws.ToString(h.ShardId)] = aws.ToString(h.ParentShardId)
		}
		if l.cursor = d.LastEvaluatedShardId; l.cursor == nil {
			return l, nil
		}
	}
}

// listPage requests a page, a bounded number of times.
func (s *Source) listPage(ctx context.Context, stream api.ARN, cursor *string) (*types.StreamDescription, error) {
	d, err := backoff.Retry(ctx, func() (*types.StreamDescription, error) {
		if err := s.client.Listing.Wait(ctx); err != nil {
			return nil, backoff.Permanent(err)
		}
		d, err := s.client.Describe(ctx, stream, cursor, "")
		if errors.Is(err, api.ErrGone) || errors.Is(err, api.ErrDenied) {
			return nil, backoff.Permanent(err)
		}
		return d, err
	}, backoff.WithBackOff(newBackoff()), backoff.WithMaxTries(pageTries), backoff.WithMaxElapsedTime(0))
	return d, retry.Cause(err)
}

// registerListing adds the shards of a whole listing to the Registry.
func (s *Source) registerListing(ctx context.Context, stream api.ARN, l *listing) error {
	bounded, cancel := context.WithTimeout(ctx, s.config.RequestTimeout)
	defer cancel()
	lineage, err := s.registry.Lineage(bounded, string(stream))
	if err != nil {
		return fmt.Errorf("read the known shards: %w", err)
	}
	if lineage.Listed.IsZero() { // of a table that was read before, perhaps
		if lineage.Listed, err = s.registry.LastListed(bounded, stream.Family()); err != nil {
			return fmt.Errorf("read the table's other streams: %w", err)
		}
	}
	found, err := s.newShards(ctx, stream, l, lineage)
	if err != nil {
		return err
	}
	bounded, cancel = context.WithTimeout(ctx, s.config.RequestTimeout)
	defer cancel()
	if err := s.registry.Register(bounded, string(stream), found, true); err != nil {
		return fmt.Errorf("register shards: %w", err)
	}
	if len(found) > 0 {
		s.log.Info("found shards", "stream", string(stream), "shards", len(found))
		s.requestRound()
	}
	return nil
}

// newShards returns the shards that are not known yet. One whose parent is neither
// known nor listed has no predecessor: that parent is gone, which is a loss unless
// this is the first listing of the table. Listings lag, so that the parent is
// probed by its name first.
func (s *Source) newShards(ctx context.Context, stream api.ARN, l *listing, lineage Lineage) ([]NewShard, error) {
	known := set(lineage.Names)
	var found []NewShard
	unknownParents := make(map[string]bool) // whether they exist
	for shard, parent := range l.shards {
		n := NewShard{Name: stream.ShardName(shard), First: string(api.TrimHorizon)}
		if known[n.Name] {
			continue
		}
		if parent != "" {
			n.After = stream.ShardName(parent)
			if _, listed := l.shards[parent]; !listed && !known[n.After] {
				unknownParents[parent] = false
			}
		}
		found = append(found, n)
	}
	if err := s.probeShards(ctx, stream, unknownParents); err != nil {
		return nil, err
	}
	orphan := func(n *NewShard) {
		if !lineage.Listed.IsZero() {
			n.First, n.UnseenSince = string(api.Orphaned), lineage.Listed
		}
		n.After = ""
	}
	for i := range found {
		parent := api.ShardID(found[i].After)
		if alive, unknown := unknownParents[parent]; unknown && !alive {
			orphan(&found[i])
		}
	}
	for parent, alive := range unknownParents {
		if alive { // its own parent is not known
			n := NewShard{Name: stream.ShardName(parent), First: string(api.TrimHorizon)}
			orphan(&n)
			found = append(found, n)
		}
	}
	return found, nil
}

// probeShards determines which of these shards exist.
func (s *Source) probeShards(ctx context.Context, stream api.ARN, shards map[string]bool) error {
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

func (s *Source) exists(ctx context.Context, stream api.ARN, shard string) (bool, error) {
	return backoff.Retry(ctx, func() (bool, error) {
		_, err := s.client.OpenIterator(ctx, stream, shard, api.TrimHorizon)
		if errors.Is(err, api.ErrGone) || errors.Is(err, api.ErrTrimmed) {
			return false, nil
		}
		return err == nil, err
	}, backoff.WithBackOff(newBackoff()), backoff.WithMaxTries(pageTries), backoff.WithMaxElapsedTime(0))
}

// newBackoff returns a backoff that grows from a quarter of a second to five, with jitter.
func newBackoff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = 250*time.Millisecond, 5*time.Second
	return b
}
