package collect

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/internal/source/streams"
	"github.com/keyheat/keyheat/store"
)

// ShardStore is what a Ledger needs of the store; *store.Store is one.
type ShardStore interface {
	Attend(ctx context.Context, source, member string, ttl time.Duration) ([]string, error)
	Leave(ctx context.Context, source, member string) error
	AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, bool, error)
	ReleaseLease(ctx context.Context, l store.Lease) error
	RegisterShards(ctx context.Context, source, stream string, all []store.NewShard, listed bool) error
	Lineage(ctx context.Context, source, stream string) (store.Lineage, error)
	LastListed(ctx context.Context, source, prefix string) (time.Time, error)
	OpenShards(ctx context.Context, source string) ([]store.Shard, error)
	TakeShards(ctx context.Context, source, member string, names []string) ([]string, error)
	FreeShard(ctx context.Context, source, member, name string) error
}

// Ledger is the streams.Ledger of one collector: the store's shards of its
// source, beside the positions that it commits. Lead and Leave are for one
// goroutine at a time.
type Ledger struct {
	store          ShardStore
	source, member string
	lease          store.Lease
}

// Ledger is the collector's, as a member by the name of its writer.
func (c *Collector) Ledger(st ShardStore) *Ledger {
	return &Ledger{store: st, source: c.config.Source, member: c.writer}
}

// Attend implements streams.Ledger.
func (l *Ledger) Attend(ctx context.Context, ttl time.Duration) (string, []string, error) {
	members, err := l.store.Attend(ctx, l.source, l.member, ttl)
	return l.member, members, err
}

// Leave implements streams.Ledger.
func (l *Ledger) Leave(ctx context.Context) error {
	if l.lease.Name != "" {
		if err := l.store.ReleaseLease(ctx, l.lease); err != nil {
			return err
		}
	}
	return l.store.Leave(ctx, l.source, l.member)
}

// Lead implements streams.Ledger.
func (l *Ledger) Lead(ctx context.Context, ttl time.Duration) (bool, error) {
	lease, held, err := l.store.AcquireLease(ctx, "shards of "+l.source, l.member, ttl)
	if held {
		l.lease = lease
	}
	return held, err
}

// Register implements streams.Ledger.
func (l *Ledger) Register(ctx context.Context, stream string, shards []streams.NewShard, listed bool) error {
	all := make([]store.NewShard, len(shards))
	for i, n := range shards {
		all[i] = store.NewShard(n)
	}
	return l.store.RegisterShards(ctx, l.source, stream, all, listed)
}

// Lineage implements streams.Ledger.
func (l *Ledger) Lineage(ctx context.Context, stream string) (streams.Lineage, error) {
	lineage, err := l.store.Lineage(ctx, l.source, stream)
	return streams.Lineage(lineage), err
}

// LastListed implements streams.Ledger.
func (l *Ledger) LastListed(ctx context.Context, prefix string) (time.Time, error) {
	return l.store.LastListed(ctx, l.source, prefix)
}

// Open implements streams.Ledger.
func (l *Ledger) Open(ctx context.Context) ([]streams.Shard, error) {
	open, err := l.store.OpenShards(ctx, l.source)
	all := make([]streams.Shard, len(open))
	for i, h := range open {
		all[i] = streams.Shard(h)
	}
	return all, err
}

// Take implements streams.Ledger.
func (l *Ledger) Take(ctx context.Context, names []string) ([]string, error) {
	return l.store.TakeShards(ctx, l.source, l.member, names)
}

// Free implements streams.Ledger.
func (l *Ledger) Free(ctx context.Context, name string) error {
	return l.store.FreeShard(ctx, l.source, l.member, name)
}
