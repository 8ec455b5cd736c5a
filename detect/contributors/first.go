package contributors

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// Place is what a key's first fix depends on beside what is counted of it.
type Place struct {
	// Table and Index are the names of what was read; Index is empty for the table itself.
	Table, Index string
	// Headroom is by how much a number of shards exceeds the bare need.
	Headroom float64
}

// sampling is where to learn what minutes do not tell.
const sampling = "samples (docs/INSTRUMENTING.md)"

// Advise sets what to do first about a partition key, by what is known of it. It belongs behind
// [Key.Spread].
func (k *Key) Advise(at Place) {
	switch k.Verdict {
	case Over, AtLimit, PartitionFull:
		k.First = k.relief(at)
	case OverNotThrottled:
		k.First = "Change nothing for it now: nothing of it is refused. Set an alarm on the table's or index's WriteKeyRangeThroughputThrottleEvents and ReadKeyRangeThroughputThrottleEvents above 0."
	case Near:
		k.First = "Look at its seconds before you change anything, by " + k.seconds(at) + ": a minute that is near the limit in the mean may have seconds above it."
		if k.Throttled > 0 {
			k.First = starved + " Then look at its seconds, by " + k.seconds(at) + "."
		}
	case Possible, PossiblyNear:
		yet := "Change nothing yet."
		if k.Throttled > 0 {
			yet = "Let clients back off between retries, and change nothing else yet."
		}
		consumption := ""
		if !k.whole {
			consumption = "the table's or index's own consumption in CloudWatch, which is not known here, may tell that, or "
		}
		k.First = fmt.Sprintf("%s What decides is how much of it is writes: %s%s%s.", yet, consumption, sampling, k.orStream(at))
	case Throttled:
		k.First = starved
		if k.KeyRange == nil {
			k.First = "Find out why its requests are throttled: the reason in the exception's ThrottlingReasons tells, and so do CloudWatch's throttle metrics of the table."
		}
	case NotCounted:
		if k.First = "Have its load counted, too: enable ACCESSED_AND_THROTTLED_KEYS for as long as it is throttled."; k.Full() > 0 {
			k.First = "Let clients back off between retries. " + k.First
		}
	case NotOver:
	}
}

// starved is what to do where requests were throttled and no partition was full.
const starved = "Look at the table's or index's capacity, its maximum, and the account's quota: no partition was full, and no other key helps against that."

// relief says what to do first about a key whose requests a full partition refuses.
func (k *Key) relief(at Place) string {
	if k.LargestItem != nil && *k.LargestItem > divisible {
		return fmt.Sprintf("Change how its largest item is used: it has %s of the load, and neither shards nor a split of the partition divide an item. %s", wording.Percent(*k.LargestItem), k.oneItem())
	}
	first := "Let clients back off between retries, and wait some minutes: DynamoDB splits a partition that stays full"
	if at.Index == "" {
		first = fmt.Sprintf("See whether the table has a local secondary index (aws dynamodb describe-table --table-name %s --query Table.LocalSecondaryIndexes): with one a key's items are never split. Without one let clients back off between retries, and wait some minutes: DynamoDB splits a partition that stays full", wording.Printable(at.Table))
	}
	if k.LargestItem == nil {
		return first + fmt.Sprintf(", unless one item has most of the load, which is not known: %s tell. Still throttled after a quarter of an hour: take samples before you shard the key%s.", sampling, k.atLeast(at))
	}
	return first + fmt.Sprintf(", and its load is on many items; sort keys that only grow are not helped. Still throttled after a quarter of an hour: shard the key%s. How many shards, and the code: from %s%s.", k.atLeast(at), sampling, k.orStream(at))
}

// oneItem says what helps against one item's load, of which it may be known that it is written
// or read.
func (k *Key) oneItem() string {
	const (
		writing = "Write it less often, such as several changes at once, or divide its value over several items that readers add up."
		reading = "Cache it, or read copies of it."
	)
	switch {
	case k.RCU.High < detect.WritesInReads*k.WCU.Low:
		return writing
	case detect.WritesInReads*k.WCU.High < k.RCU.Low:
		return reading
	}
	return "If it is written: " + writing + " If it is read: " + reading
}

// atLeast returns how many shards the least load asks for, where that is more than one.
func (k *Key) atLeast(at Place) string {
	n := detect.Shards(detect.Milli(k.shares(*k.Value).Low*detect.Units(detect.PartitionWrite)), detect.PartitionWrite, at.Headroom)
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(", into at least %d shards (%g times the load that was served; what was throttled comes on top)", n, at.Headroom)
}

// seconds says where a key's seconds are to be had.
func (k *Key) seconds(at Place) string { return sampling + k.orStream(at) }

// orStream names the command that reads the table's stream, unless the key is only read: a
// stream has writes only.
func (k *Key) orStream(at Place) string {
	if k.Bounds == nil || k.WCU.High == 0 {
		return ""
	}
	return ", or, of writes that succeeded, reporter analyze --stream " + wording.Printable(at.Table)
}
