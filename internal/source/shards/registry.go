package shards

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/store/lineage"
)

// Registry is the state that the collectors of one source share. It has one clock
// for all of them. After an error nothing is known: call again.
type Registry interface {
	// KeepAlive renews the membership of this collector for ttl from now, and
	// returns its own name and, in order, those of all members that are alive.
	KeepAlive(ctx context.Context, ttl time.Duration) (me string, members []string, err error)
	// Leave ends the membership: others may take what it owned and led.
	Leave(ctx context.Context) error
	// Lead reports whether this collector is the one to list shards, for ttl.
	Lead(ctx context.Context, ttl time.Duration) (bool, error)
	// Register adds shards of a stream, with the watermark of their parent, and
	// does not change those that are known. listed means that all shards of the
	// stream were listed.
	Register(ctx context.Context, stream string, shards []lineage.NewShard, listed bool) error
	// Lineage returns what is known of a stream.
	Lineage(ctx context.Context, stream string) (lineage.Stream, error)
	// LastListed returns when all shards of a stream whose name has this prefix
	// were listed last; zero when none was.
	LastListed(ctx context.Context, prefix string) (time.Time, error)
	// OpenShards returns the shards that are not counted to their end.
	OpenShards(ctx context.Context) ([]lineage.Shard, error)
	// Take makes this collector the owner of those of the named shards that
	// nobody alive owns and that have not ended, and returns which.
	Take(ctx context.Context, names []string) ([]string, error)
	// Release lets others take a shard.
	Release(ctx context.Context, name string) error
}
