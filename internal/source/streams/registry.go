package streams

import (
	"context"
	"time"
)

// Ledger is what the collectors that share a source know together. Its clock is
// one for all of them. An error means that nothing is known: ask again.
type Ledger interface {
	// Attend says that this collector is alive for ttl from now, and answers
	// its own name and, in order, those of all that are.
	Attend(ctx context.Context, ttl time.Duration) (me string, members []string, err error)
	// Leave ends the membership: what it owned and led is anybody's.
	Leave(ctx context.Context) error
	// Lead says whether this collector is the one to list shards, for ttl.
	Lead(ctx context.Context, ttl time.Duration) (bool, error)
	// Register makes shards of a stream known, with the watermark of the shard
	// before them, and leaves those alone that are.
	// listed says that all shards of the stream were looked at.
	Register(ctx context.Context, stream string, shards []NewShard, listed bool) error
	// Lineage answers what is known of a stream.
	Lineage(ctx context.Context, stream string) (Lineage, error)
	// LastListed answers when all shards of a stream whose ARN has this prefix
	// were listed last; zero when none was.
	LastListed(ctx context.Context, prefix string) (time.Time, error)
	// Open are the shards that are not counted to their end.
	Open(ctx context.Context) ([]Shard, error)
	// Take makes this collector the owner of those of the named shards that
	// nobody alive owns and that have not ended, and answers which.
	Take(ctx context.Context, names []string) ([]string, error)
	// Free lets others take a shard.
	Free(ctx context.Context, name string) error
}

// NewShard is a shard that a stream was found to have.
type NewShard struct {
	// Name is its name in the Ledger and the Sink; see shardName.
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
	// After is NewShard's; Ready says that that shard, if there is one, has ended.
	After string
	Ready bool
	// Owner is the member that reads it; empty when nobody alive does.
	Owner string
	// Watermark is up to where it is counted; 1970 before it was heard of.
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
