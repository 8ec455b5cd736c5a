package shards

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/store"
)

// RegistryStore is the part of the store that a StoredRegistry uses; *store.Store
// implements it.
type RegistryStore interface {
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

// StoredRegistry is the [Registry] of one collector, in the store beside the positions
// that internal/collect commits. Lead and Leave are for one
// goroutine at a time.
type StoredRegistry struct {
	store          RegistryStore
	source, member string
	lease          store.Lease
}

// NewStoredRegistry returns the registry of a member: one of the collectors that share the
// source.
func NewStoredRegistry(st RegistryStore, source, member string) *StoredRegistry {
	return &StoredRegistry{store: st, source: source, member: member}
}

// KeepAlive implements shards.Registry.
func (r *StoredRegistry) KeepAlive(ctx context.Context, ttl time.Duration) (string, []string, error) {
	members, err := r.store.Attend(ctx, r.source, r.member, ttl)
	return r.member, members, err
}

// Leave implements shards.Registry.
func (r *StoredRegistry) Leave(ctx context.Context) error {
	if r.lease.Name != "" {
		if err := r.store.ReleaseLease(ctx, r.lease); err != nil {
			return err
		}
	}
	return r.store.Leave(ctx, r.source, r.member)
}

// Lead implements shards.Registry.
func (r *StoredRegistry) Lead(ctx context.Context, ttl time.Duration) (bool, error) {
	lease, held, err := r.store.AcquireLease(ctx, "shards of "+r.source, r.member, ttl)
	if held {
		r.lease = lease
	}
	return held, err
}

// Register implements shards.Registry.
func (r *StoredRegistry) Register(ctx context.Context, stream string, shards []store.NewShard, listed bool) error {
	return r.store.RegisterShards(ctx, r.source, stream, shards, listed)
}

// Lineage implements shards.Registry.
func (r *StoredRegistry) Lineage(ctx context.Context, stream string) (store.Stream, error) {
	return r.store.Lineage(ctx, r.source, stream)
}

// LastListed implements shards.Registry.
func (r *StoredRegistry) LastListed(ctx context.Context, prefix string) (time.Time, error) {
	return r.store.LastListed(ctx, r.source, prefix)
}

// OpenShards implements shards.Registry.
func (r *StoredRegistry) OpenShards(ctx context.Context) ([]store.Shard, error) {
	return r.store.OpenShards(ctx, r.source)
}

// Take implements shards.Registry.
func (r *StoredRegistry) Take(ctx context.Context, names []string) ([]string, error) {
	return r.store.TakeShards(ctx, r.source, r.member, names)
}

// Release implements shards.Registry.
func (r *StoredRegistry) Release(ctx context.Context, name string) error {
	return r.store.FreeShard(ctx, r.source, r.member, name)
}
