package shards

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Position is where reading continues in a shard: after a sequence number, or at one of
// these.
type Position string

const (
	// TrimHorizon begins with the oldest remaining record.
	TrimHorizon Position = "TRIM_HORIZON"
	// orphaned is TrimHorizon for a shard whose parent vanished before any collector saw
	// it. The parent's records are recorded as a gap before the shard is read.
	orphaned Position = "ORPHAN"
	// afterGap is TrimHorizon after the loss before it is recorded, when no record is left
	// to name the position.
	afterGap Position = "AFTER_GAP"
	// shardEnd is after the last record.
	shardEnd Position = "SHARD_END"
	// atPrefix begins the position of a record that is the next one; see atSequence.
	atPrefix = "at:"
	// timePrefix begins the position of a time; see AtTime.
	timePrefix = "time:"
)

// atSequence returns the position before the record with that sequence number: the end of a
// gap.
func atSequence(sequence string) Position { return Position(atPrefix + sequence) }

// AtTime returns the position before the first record that was written in the second of t
// or later.
func AtTime(t time.Time) Position { return Position(timePrefix + t.UTC().Format(time.RFC3339)) }

// Time returns the time of a position that AtTime made.
func (p Position) Time() (t time.Time, ok bool) {
	written, ok := strings.CutPrefix(string(p), timePrefix)
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, written)
	return t, err == nil
}

// unread reports whether no record of the shard was counted.
func (p Position) unread() bool {
	return p == TrimHorizon || p == orphaned || p == afterGap || strings.HasPrefix(string(p), timePrefix)
}

// Sequence returns the sequence number at which reading begins, or after which, if after is
// set. It is empty for the oldest record and for a time.
func (p Position) Sequence() (sequence string, after bool) {
	if next, ok := strings.CutPrefix(string(p), atPrefix); ok {
		return next, false
	}
	if p.unread() {
		return "", false
	}
	return string(p), true
}

// HasPassed reports whether the record of that sequence number lies before the
// position.
func (p Position) HasPassed(sequence string) bool {
	begin, after := p.Sequence()
	switch {
	case begin == "":
		return false
	case after:
		return p == shardEnd || compareSequence(sequence, begin) <= 0
	}
	return compareSequence(sequence, begin) < 0
}

// compareSequence compares two sequence numbers. They are decimals of 40 digits or more,
// too large for any integer type.
func compareSequence(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// shardID returns the name that the Log gives a shard, of its name in the Registry.
func shardID(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// TableOf returns the table of a partition that this source names.
func TableOf(partition string) string {
	table, _, _ := strings.Cut(partition, "/")
	return table
}

// OrderStreams returns the streams of a table without repetition, the oldest first.
func OrderStreams(streams []string, parts func(stream string) (table, label string)) []string {
	slices.SortFunc(streams, func(a, b string) int {
		_, labelA := parts(a)
		_, labelB := parts(b)
		return cmp.Compare(labelA, labelB)
	})
	return slices.Compact(streams)
}
