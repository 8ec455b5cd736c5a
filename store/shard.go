package store

import "time"

// NewShard is a shard that a stream was found to have.
type NewShard struct {
	// Name is the shard's name in its source, as in its position.
	Name string
	// First is the position at which reading begins.
	First string
	// After is the name of the shard that has to end before this one is read;
	// empty for none.
	After string
	// UnseenSince is, when the parent vanished before anybody saw it, the last time at
	// which all shards were known; else zero.
	UnseenSince time.Time
}

// Shard is a shard that is not counted to its end.
type Shard struct {
	Name string
	// Stream is the stream that it belongs to, as its finder named it.
	Stream string
	// After is NewShard's; Ready reports that that shard, if there is one, has ended.
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

// LastKnown returns the last time of the shard's known state: up to where it was counted,
// or when it was found.
func (s *Shard) LastKnown() time.Time {
	if s.Watermark.After(s.Found) {
		return s.Watermark
	}
	return s.Found
}

// Stream is the known state of one stream.
type Stream struct {
	// Listed is when all its shards were listed last; zero before the first time.
	Listed time.Time
	// Names are the known shards, ended ones too, in order, except for the ones that
	// ended long ago.
	Names []string
}
