package streams

import (
	"cmp"
	"strings"
)

// position is where reading goes on in a shard: a sequence number, after which
// to read, or one of these.
type position string

const (
	// atHorizon begins with the oldest record that is left.
	atHorizon position = "TRIM_HORIZON"
	// orphaned is atHorizon for a shard whose parent vanished before anybody saw
	// it: what that held is recorded as a gap before anything is read.
	orphaned position = "ORPHAN"
	// afterGap is atHorizon once the loss of what was before that is recorded,
	// where nothing is left to name the place.
	afterGap position = "AFTER_GAP"
	// atShardEnd is behind everything.
	atShardEnd position = "SHARD_END"
	// at, before a sequence number, is where that record itself is the next: the
	// end of a gap.
	at = "at:"
)

// unread says that nothing of the shard was counted.
func (p position) unread() bool { return p == atHorizon || p == orphaned || p == afterGap }

// passed says whether the record of that sequence number lies before the
// position.
func (p position) passed(sequence string) bool {
	if p.unread() {
		return false
	}
	if next, ok := strings.CutPrefix(string(p), at); ok {
		return compareSequence(sequence, next) < 0
	}
	return p == atShardEnd || compareSequence(sequence, string(p)) <= 0
}

// compareSequence compares two sequence numbers. They are decimal and have up
// to 40 digits, more than any integer holds.
func compareSequence(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// arn is a stream's ARN: arn:aws:dynamodb:region:account:table/NAME/stream/LABEL.
type arn string

// table and label are the parts of the ARN that tell streams apart; labels are
// times, in order.
func (a arn) parts() (table, label string) {
	_, rest, _ := strings.Cut(string(a), ":table/")
	table, label, _ = strings.Cut(rest, "/stream/")
	return table, label
}

func (a arn) table() string { table, _ := a.parts(); return table }
func (a arn) label() string { _, label := a.parts(); return label }

// family is what the streams of one table have in common.
func (a arn) family() string { return strings.TrimSuffix(string(a), a.label()) }

// shardName is a shard's name in the Ledger and the Sink: table/label/shard.
func (a arn) shardName(shard string) string {
	table, label := a.parts()
	return table + "/" + label + "/" + shard
}

// shardID is the shard's own name in its stream.
func shardID(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// TableOf is the table of a partition that this source names.
func TableOf(partition string) string {
	table, _, _ := strings.Cut(partition, "/")
	return table
}
