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
	// it: what that held is recorded as a gap before anything is read.
	Orphaned Position = "ORPHAN"
	// AfterGap is atHorizon once the loss of what was before that is recorded,
	// where nothing is left to name the place.
	AfterGap Position = "AFTER_GAP"
	// ShardEnd is behind everything.
	ShardEnd Position = "SHARD_END"
	// atPrefix begins the position at a record; see At.
	atPrefix = "at:"
)

// At returns the position at which the record of that sequence number is the next
// one: the end of a gap.
func At(sequence string) Position { return Position(atPrefix + sequence) }

// Unread says that nothing of the shard was counted.
func (p Position) Unread() bool { return p == TrimHorizon || p == Orphaned || p == AfterGap }

// Passed says whether the record of that sequence number lies before the
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

// table and label are the parts of the ARN that tell streams apart; labels are
// times, in order.
func (a ARN) Parts() (table, label string) {
	_, rest, _ := strings.Cut(string(a), ":table/")
	table, label, _ = strings.Cut(rest, "/stream/")
	return table, label
}

func (a ARN) Table() string { table, _ := a.Parts(); return table }
func (a ARN) Label() string { _, label := a.Parts(); return label }

// Family is what the streams of one table have in common.
func (a ARN) Family() string { return strings.TrimSuffix(string(a), a.Label()) }

// ShardName is a shard's name in the Ledger and the Sink: table/label/shard.
func (a ARN) ShardName(shard string) string {
	table, label := a.Parts()
	return table + "/" + label + "/" + shard
}

// ShardID is the shard's own name in its stream.
func ShardID(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// TableOf is the table of a partition that this source names.
func TableOf(partition string) string {
	table, _, _ := strings.Cut(partition, "/")
	return table
}
