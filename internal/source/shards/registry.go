package shards

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/store"
)

// Registry is the state that the collectors of one source share, with one clock. *store.Store
// implements it, beside the positions that internal/collect commits, and its comments are the
// contract. After an error the caller repeats the call.
type Registry interface {
	Attend(ctx context.Context, source, member string, ttl time.Duration) ([]string, error)
	Leave(ctx context.Context, source, member string) error
	AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, bool, error)
	ReleaseLease(ctx context.Context, l store.Lease) error
	RegisterShards(ctx context.Context, source, stream string, all []store.NewShard, listed bool) error
	Lineage(ctx context.Context, source, stream string) (store.Stream, error)
	LastListed(ctx context.Context, source, prefix string) (time.Time, error)
	OpenShards(ctx context.Context, source string) ([]store.Shard, error)
	TakeShards(ctx context.Context, source, member string, names []string) ([]string, error)
	FreeShard(ctx context.Context, source, member, name string) error
}
