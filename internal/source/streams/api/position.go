package api

import (
	"cmp"
	"strings"
)

// Position is where reading goes on in a shard: a sequence number, after which
// to read, or one of these.
type Position string

const (
	// TrimHorizon begins with the oldest record that is left.
	TrimHorizon Position = "TRIM_HORIZON"
	// Orphaned is atHorizon for a shard whose parent vanished before anybody saw
	// it: its records are recorded as a gap before anything is read.
	Orphaned Position = "ORPHAN"
	// AfterGap is atHorizon once the loss of what was before that is recorded,
	// where no record is left to name the position.
	AfterGap Position = "AFTER_GAP"
	// ShardEnd is after the last record.
	ShardEnd Position = "SHARD_END"
	// atPrefix begins the position at a record; see At.
	atPrefix = "at:"
)

// At returns the position at which the record of that sequence number is the next
// one: the end of a gap.
func At(sequence string) Position { return Position(atPrefix + sequence) }

// Unread reports whether nothing of the shard was counted.
func (p Position) Unread() bool { return p == TrimHorizon || p == Orphaned || p == AfterGap }

// Passed reports whether the record of that sequence number lies before the
// position.
func (p Position) Passed(sequence string) bool {
	if p.Unread() {
		return false
	}
	if next, ok := strings.CutPrefix(string(p), atPrefix); ok {
		return compareSequence(sequence, next) < 0
	}
	return p == ShardEnd || compareSequence(sequence, string(p)) <= 0
}

// compareSequence compares two sequence numbers. They are decimal and have up
// to 40 digits, more than any integer holds.
func compareSequence(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// ARN is a stream's ARN: arn:aws:dynamodb:region:account:table/NAME/stream/LABEL.
type ARN string

// Parts returns the parts of the ARN that distinguish streams; labels are times, in
// order.
func (a ARN) Parts() (table, label string) {
	_, rest, _ := strings.Cut(string(a), ":table/")
	table, label, _ = strings.Cut(rest, "/stream/")
	return table, label
}

// Table returns the name of the stream's table.
func (a ARN) Table() string { table, _ := a.Parts(); return table }

// label returns the stream's label.
func (a ARN) label() string { _, label := a.Parts(); return label }

// Family returns the prefix that the streams of one table share.
func (a ARN) Family() string { return strings.TrimSuffix(string(a), a.label()) }

// ShardName returns a shard's name in the registry and the Sink: table/label/shard.
func (a ARN) ShardName(shard string) string {
	table, label := a.Parts()
	return table + "/" + label + "/" + shard
}

// ShardID returns the shard's own name in its stream.
func ShardID(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// TableOf returns the table of a partition that this source names.
func TableOf(partition string) string {
	table, _, _ := strings.Cut(partition, "/")
	return table
}
