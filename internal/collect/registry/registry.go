// Package registry keeps, in the store, which collector reads which shard of a
// stream: the registry of internal/source/shards, beside the positions that
// internal/collect commits.
package registry

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/store"
	"github.com/keyheat/keyheat/store/lineage"
)

// Store is what a Registry needs of the store; *store.Store is one.
type Store interface {
	Attend(ctx context.Context, source, member string, ttl time.Duration) ([]string, error)
	Leave(ctx context.Context, source, member string) error
	AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, bool, error)
	ReleaseLease(ctx context.Context, l store.Lease) error
	RegisterShards(ctx context.Context, source, stream string, all []lineage.NewShard, listed bool) error
	Lineage(ctx context.Context, source, stream string) (lineage.Stream, error)
	LastListed(ctx context.Context, source, prefix string) (time.Time, error)
	OpenShards(ctx context.Context, source string) ([]lineage.Shard, error)
	TakeShards(ctx context.Context, source, member string, names []string) ([]string, error)
	FreeShard(ctx context.Context, source, member, name string) error
}

// Registry is the shards.Registry of one collector. Lead and Leave are for one
// goroutine at a time.
type Registry struct {
	store          Store
	source, member string
	lease          store.Lease
}

// New returns the registry of a member: one collector of those that share the
// source.
func New(st Store, source, member string) *Registry {
	return &Registry{store: st, source: source, member: member}
}

// KeepAlive implements shards.Registry.
func (r *Registry) KeepAlive(ctx context.Context, ttl time.Duration) (string, []string, error) {
	members, err := r.store.Attend(ctx, r.source, r.member, ttl)
	return r.member, members, err
}

// Leave implements shards.Registry.
func (r *Registry) Leave(ctx context.Context) error {
	if r.lease.Name != "" {
		if err := r.store.ReleaseLease(ctx, r.lease); err != nil {
			return err
		}
	}
	return r.store.Leave(ctx, r.source, r.member)
}

// Lead implements shards.Registry.
func (r *Registry) Lead(ctx context.Context, ttl time.Duration) (bool, error) {
	lease, held, err := r.store.AcquireLease(ctx, "shards of "+r.source, r.member, ttl)
	if held {
		r.lease = lease
	}
	return held, err
}

// Register implements shards.Registry.
func (r *Registry) Register(ctx context.Context, stream string, shards []lineage.NewShard, listed bool) error {
	return r.store.RegisterShards(ctx, r.source, stream, shards, listed)
}

// Lineage implements shards.Registry.
func (r *Registry) Lineage(ctx context.Context, stream string) (lineage.Stream, error) {
	return r.store.Lineage(ctx, r.source, stream)
}

// LastListed implements shards.Registry.
func (r *Registry) LastListed(ctx context.Context, prefix string) (time.Time, error) {
	return r.store.LastListed(ctx, r.source, prefix)
}

// OpenShards implements shards.Registry.
func (r *Registry) OpenShards(ctx context.Context) ([]lineage.Shard, error) {
	return r.store.OpenShards(ctx, r.source)
}

// Take implements shards.Registry.
func (r *Registry) Take(ctx context.Context, names []string) ([]string, error) {
	return r.store.TakeShards(ctx, r.source, r.member, names)
}

// Release implements shards.Registry.
func (r *Registry) Release(ctx context.Context, name string) error {
	return r.store.FreeShard(ctx, r.source, r.member, name)
}
