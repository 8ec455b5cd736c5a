package shards

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/store"
)

// Registry is the state that the collectors of one source share, with one clock. After an
// error the caller repeats the call.
type Registry interface {
	// KeepAlive renews the membership of this collector for ttl from now. It returns its
	// own name, and the names of all living members, in order.
	KeepAlive(ctx context.Context, ttl time.Duration) (me string, members []string, err error)
	// Leave ends the membership: others may take its shards and its lead.
	Leave(ctx context.Context) error
	// Lead reports whether this collector may list shards, for ttl.
	Lead(ctx context.Context, ttl time.Duration) (bool, error)
	// Register adds new shards of a stream, with their parent's watermark. It does not
	// change known shards. listed means that the listing of the stream is complete.
	Register(ctx context.Context, stream string, shards []store.NewShard, listed bool) error
	// Lineage returns the known shards of a stream.
	Lineage(ctx context.Context, stream string) (store.Stream, error)
	// LastListed returns when all shards of a stream whose name has this prefix
	// were listed last; zero when none was.
	LastListed(ctx context.Context, prefix string) (time.Time, error)
	// OpenShards returns the shards whose end is not counted.
	OpenShards(ctx context.Context) ([]store.Shard, error)
	// Take makes this collector the owner of the named shards that have no living owner and
	// have not ended. It returns their names.
	Take(ctx context.Context, names []string) ([]string, error)
	// Release lets others take a shard.
	Release(ctx context.Context, name string) error
}
