package shards

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/store"
)

// childrenPatience is the longest pause between two requests for the children of a
// closed shard. A listing shows them some time after it was closed.
const childrenPatience = 15 * time.Second

// childrenState is the result of a search for the children of a closed shard.
type childrenState int

const (
	// childrenUnknown: the shard must have children, but none is visible yet.
	childrenUnknown childrenState = iota
	// childrenRegistered: the Registry has the children.
	childrenRegistered
	// noChildren: the shard has no children, because the stream was disabled or they are
	// gone too.
	noChildren
)

// childrenFound holds, by the name of a closed shard, when the youngest of its
// known children was found.
type childrenFound map[string]time.Time

// childrenSettled is how long the children are known before no sibling can be missing. A
// collector with a backlog need not list them.
const childrenSettled = time.Minute

// noteChildren records the children among the open shards.
func (s *Source) noteChildren(open []store.Shard) {
	found := make(childrenFound)
	for _, h := range open {
		if h.After != "" && h.Found.After(found[h.After]) {
			found[h.After] = h.Found
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.childrenFound = found
}

// hasChildren reports whether the Registry has all children of the shard. Children of a
// vanished shard come from a listing, all at once.
func (r *reader) hasChildren() bool {
	r.source.mu.Lock()
	defer r.source.mu.Unlock()
	found, ok := r.source.childrenFound[r.shard.Name]
	return ok && (r.gone || time.Since(found) > childrenSettled)
}

// turnPoll is how often a reader that waits for its turn checks whether it still
// has to make the request.
const turnPoll = 200 * time.Millisecond

// awaitChildren waits until the Registry has the children of the closed shard, or until it
// is certain that there are none. The shard's end may be folded only then: the watermarks
// of the children keep their seconds incomplete.
func (r *reader) awaitChildren(ctx context.Context) error {
	wait := newBackoff()
	wait.MaxInterval = childrenPatience
	for {
		switch err := r.source.ownership.await(ctx); {
		case err != nil:
			return err
		case r.hasChildren():
			r.source.health.Heal(r.shard.Name)
			return nil
		case !r.source.childrenPacer.try():
			daemon.Pause(ctx, turnPoll)
			continue
		}
		after, err := r.registerChildren(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrGone): // the stream was deleted
			return nil
		case err != nil:
			r.source.reportFailure(r.shard.Name, failureChildren, err)
		case after == childrenUnknown:
			r.source.reportFailure(r.shard.Name, failureChildren, fmt.Errorf("a closed shard has no children yet: waiting for %s to list them", r.source.client.traits.Operations.Describe))
		default:
			r.source.health.Heal(r.shard.Name)
			return nil
		}
		daemon.Pause(ctx, wait.NextBackOff())
	}
}

// registerChildren lists the children of the shard and registers them. It returns
// [ErrGone] when there is no such stream.
func (r *reader) registerChildren(ctx context.Context) (childrenState, error) {
	children, disabled, err := r.listChildren(ctx)
	switch {
	case err != nil:
		return childrenUnknown, err
	case len(children) > 0:
		if err := r.register(ctx, children); err != nil {
			return childrenUnknown, err
		}
		return childrenRegistered, nil
	case disabled || r.gone:
		// A listing finds the children of a vanished shard, if they still exist.
		return noChildren, nil
	}
	return childrenUnknown, nil
}

// listChildren returns the children of this shard. The caller has waited for its turn. A
// server without the filter returns all shards.
func (r *reader) listChildren(ctx context.Context) (children []store.NewShard, disabled bool, err error) {
	var cursor string
	for {
		if cursor != "" {
			if err := r.source.childrenPacer.wait(ctx); err != nil {
				return nil, false, err
			}
		}
		d, err := r.source.client.describe(ctx, r.shard.Stream, cursor, r.id)
		if err != nil {
			return nil, false, err
		}
		for _, h := range d.Shards {
			if h.Parent == r.id {
				children = append(children, store.NewShard{
					Name: r.source.client.shardName(r.shard.Stream, h.ID), First: string(TrimHorizon), After: r.shard.Name,
				})
			}
		}
		disabled = d.Disabled
		if cursor = d.Next; cursor == "" {
			return children, disabled, nil
		}
	}
}

func (r *reader) register(ctx context.Context, children []store.NewShard) error {
	ctx, cancel := context.WithTimeout(ctx, r.source.config.RequestTimeout)
	defer cancel()
	if err := r.source.registry.RegisterShards(ctx, r.source.config.Name, r.shard.Stream, children, false); err != nil {
		return fmt.Errorf("register the children of a closed shard: %w", err)
	}
	return nil
}
