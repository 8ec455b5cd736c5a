package streams

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/keyheat/keyheat/internal/retry"
	"github.com/keyheat/keyheat/internal/source/streams/api"
)

// childrenPatience is the longest pause between two looks for the children of a
// closed shard. DescribeStream shows them some time after it was closed.
const childrenPatience = 15 * time.Second

// succession is what comes after a closed shard.
type succession int

const (
	// unclear: there must be children, but none is to be seen yet.
	unclear succession = iota
	// succeeded: the Ledger has the children.
	succeeded
	// extinct: there are none, because the stream was disabled, or they are
	// gone too.
	extinct
)

// heirs are, by the name of a closed shard, when the youngest of its known
// children became known.
type heirs map[string]time.Time

// heirsSettled is how long children have to be known for certain that no sibling
// of theirs is still to be shown. Whoever catches up need not ask for them.
const heirsSettled = time.Minute

// noteHeirs remembers the children among the open shards.
func (s *Streams) noteHeirs(open []Shard) {
	heirs := make(heirs)
	for _, h := range open {
		if h.After != "" && h.Found.After(heirs[h.After]) {
			heirs[h.After] = h.Found
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heirs = heirs
}

// hasHeirs says whether the Ledger has all children of the shard. Those of one
// that is gone come from a listing, and all at once.
func (r *reader) hasHeirs() bool {
	r.source.mu.Lock()
	defer r.source.mu.Unlock()
	found, ok := r.source.heirs[r.shard.Name]
	return ok && (r.gone || time.Since(found) > heirsSettled)
}

// turnLook is how often one that waits for its turn to ask looks whether it still
// has to.
const turnLook = 200 * time.Millisecond

// awaitChildren waits until the Ledger knows the children of the shard, which
// is closed, or until it is certain that there are none. Its end may be told to
// the Sink then, and not before: the children hold the seconds open.
func (r *reader) awaitChildren(ctx context.Context) error {
	wait := newBackoff()
	wait.MaxInterval = childrenPatience
	for {
		switch err := r.source.tenure.await(ctx); {
		case err != nil:
			return err
		case r.hasHeirs():
			r.source.health.Heal(r.shard.Name)
			return nil
		case !r.source.children.Try():
			retry.Pause(ctx, turnLook)
			continue
		}
		after, err := r.succession(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, api.ErrGone): // the stream was deleted
			return nil
		case err != nil:
			r.source.trouble(r.shard.Name, troubleChildren, err)
		case after == unclear:
			r.source.trouble(r.shard.Name, troubleChildren, errors.New("a closed shard has no children yet: waiting for DescribeStream to show them"))
		default:
			r.source.health.Heal(r.shard.Name)
			return nil
		}
		retry.Pause(ctx, wait.NextBackOff())
	}
}

// succession looks for the children of the shard and makes them known. errGone
// says that there is no such stream.
func (r *reader) succession(ctx context.Context) (succession, error) {
	children, disabled, err := r.lookForChildren(ctx)
	switch {
	case err != nil:
		return unclear, err
	case len(children) > 0:
		if err := r.register(ctx, children); err != nil {
			return unclear, err
		}
		return succeeded, nil
	case disabled || r.gone:
		// The children of a shard that is gone are found by a listing, if they
		// are not gone themselves.
		return extinct, nil
	}
	return unclear, nil
}

// lookForChildren asks for the shards whose parent this one is; its turn has
// come. A server that does not know the filter answers all of them.
func (r *reader) lookForChildren(ctx context.Context) (children []NewShard, disabled bool, err error) {
	var cursor *string
	for {
		if cursor != nil {
			if err := r.source.children.Wait(ctx); err != nil {
				return nil, false, err
			}
		}
		d, err := r.source.client.Describe(ctx, r.stream, cursor, r.id)
		if err != nil {
			return nil, false, err
		}
		for _, h := range d.Shards {
			if aws.ToString(h.ParentShardId) == r.id {
				children = append(children, NewShard{
					Name: r.stream.ShardName(aws.ToString(h.ShardId)), First: string(api.TrimHorizon), After: r.shard.Name,
				})
			}
		}
		disabled = d.StreamStatus == types.StreamStatusDisabled
		if cursor = d.LastEvaluatedShardId; cursor == nil {
			return children, disabled, nil
		}
	}
}

func (r *reader) register(ctx context.Context, children []NewShard) error {
	ctx, cancel := context.WithTimeout(ctx, r.source.config.RequestTimeout)
	defer cancel()
	if err := r.source.ledger.Register(ctx, string(r.stream), children, false); err != nil {
		return fmt.Errorf("make the children of a closed shard known: %w", err)
	}
	return nil
}
