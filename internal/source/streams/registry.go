package streams

import (
	"context"
	"time"
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
	Register(ctx context.Context, stream string, shards []NewShard, listed bool) error
	// Lineage returns what is known of a stream.
	Lineage(ctx context.Context, stream string) (Lineage, error)
	// LastListed returns when all shards of a stream whose ARN has this prefix
	// were listed last; zero when none was.
	LastListed(ctx context.Context, prefix string) (time.Time, error)
	// OpenShards returns the shards that are not counted to their end.
	OpenShards(ctx context.Context) ([]Shard, error)
	// Take makes this collector the owner of those of the named shards that
	// nobody alive owns and that have not ended, and returns which.
	Take(ctx context.Context, names []string) ([]string, error)
	// Release lets others take a shard.
	Release(ctx context.Context, name string) error
}

// NewShard is a shard that a stream was found to have.
type NewShard struct {
	// Name is its name in the Registry and the Sink; see [api.ARN.ShardName].
	Name string
	// First is the position at which reading begins.
	First string
	// After is the name of the shard that has to end before this one is read;
	// empty for none.
	After string
	// UnseenSince is, when the parent vanished before anybody saw it, the last
	// time at which all shards were known; else zero.
	UnseenSince time.Time
}

// Shard is a shard that is not counted to its end.
type Shard struct {
	Name string
	// Stream is the ARN of its stream.
	Stream string
	// After is NewShard's; Ready is whether that shard, if there is one, has ended.
	After string
	Ready bool
	// Owner is the member that reads it; empty when nobody alive does.
	Owner string
	// Watermark is up to where it is counted; 1970 before anything is known.
	Watermark time.Time
	// Found is when it became known.
	Found time.Time
	// UnseenSince is NewShard's.
	UnseenSince time.Time
}

// Lineage is what is known of one stream.
type Lineage struct {
	// Listed is when all its shards were listed last; zero before the first time.
	Listed time.Time
	// Names are the known shards, ended ones too.
	Names []string
}
