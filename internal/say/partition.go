package say

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample/position"
)

// Partitions says how far a table's partitions are known, and by what evidence.
func Partitions(v *partition.View) string {
	table, shards := wording.Printable(wording.Shorten(v.Table, shownKey)), wording.Count(int64(len(v.Partitions)))
	inferred := fmt.Sprintf("Partitions of %s, inferred from at least %s keys on %s stream shards: %d contradictions. An unrelated hash would agree less than once in 10^%d. AWS does not confirm it.",
		table, wording.Count(int64(v.Keys)), shards, len(v.Contradictions), int(min(v.Evidence, 99)))
	switch v.State {
	case partition.One:
		return fmt.Sprintf("%s has one partition: all keys share its 1,000 WCU/s and 3,000 RCU/s.", table)
	case partition.Inferred:
		return inferred
	case partition.Doubtful:
		return inferred + " Treat the ranges as possible only."
	case partition.Withdrawn:
		return fmt.Sprintf("No partition ranges for %s: its keys contradict the hash that DynamoDB is known to use.", table)
	}
	return fmt.Sprintf("The partition ranges of %s are not known yet: %s keys seen on %s stream shards, some %s more needed.",
		table, wording.Count(int64(v.Keys)), shards, wording.Count(int64(max(1, v.Needed))))
}

// PartitionName names a partition by its range, or by its shard where the range is unknown.
func PartitionName(v *partition.View, i int) string {
	r := &v.Partitions[i].Range
	if v.State != partition.Inferred && v.State != partition.Doubtful || !r.Keys {
		name := r.Shard
		return "shard …" + wording.Printable(name[max(0, len(name)-8):])
	}
	return edge(r.From, r.Low) + "–" + edge(r.High, r.To)
}

// edge writes a border between two positions, with its doubt in units of its last digit.
func edge(low, high position.Position) string {
	middle := low + (high-low)/2
	if low == 0 {
		middle = 0
	}
	if high == ^position.Position(0) {
		return high.String()
	}
	doubt := (high - low) / 2 >> 48
	if low == 0 || doubt == 0 {
		return middle.String()
	}
	return fmt.Sprintf("%s±%02x", middle, uint64(doubt))
}

// busyShare is the share of a partition's writes from which a key is named.
const busyShare = 0.02

// BusyKeys names a partition's busiest keys with their shares of its writes.
func BusyKeys(p *partition.Load) string {
	var all []string
	for _, k := range p.Busiest {
		if k.Share < busyShare {
			break
		}
		all = append(all, quote(k.Key)+" "+wording.Part(k.Share))
	}
	return strings.Join(all, ", ")
}

// DescribeSplit says when and where DynamoDB divided a partition.
func DescribeSplit(s *partition.Split) string {
	text := fmt.Sprintf("%s: DynamoDB split %s–%s near %s", s.At.UTC().Format("15:04:05"), s.Low, s.High, edge(s.CutLow, s.CutHigh))
	if s.CutLow == s.CutHigh {
		text += ", inside one key's items"
	}
	return text + "."
}
