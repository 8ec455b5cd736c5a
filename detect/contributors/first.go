package contributors

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// Place is a key's table and policy, for its first fix.
type Place struct {
	// Table and Index are the names of the judged table; Index is empty for the table
	// itself.
	Table, Index string
	// Headroom is the factor on the bare need for shards.
	Headroom float64
}

// sampling names the source of figures finer than minutes.
const sampling = "samples (docs/INSTRUMENTING.md)"

// Advise sets the first fix of a partition key. Call it after [Key.SetItems].
func (k *Key) Advise(at Place) {
	switch k.Verdict {
	case Over, AtLimit, PartitionFull:
		k.First = k.relief(at)
	case OverNotThrottled:
		k.First = "Change nothing for it now: nothing of it is refused. Set an alarm on the table's or index's WriteKeyRangeThroughputThrottleEvents and ReadKeyRangeThroughputThrottleEvents above 0."
	case Near:
		k.First = "Look at its seconds before you change anything, by " + k.secondsSource(at) + ": a minute that is near the limit in the mean may have seconds above it."
		if k.Throttled > 0 {
			k.First = starved + " Then look at its seconds, by " + k.secondsSource(at) + "."
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
		k.First = fmt.Sprintf("%s What decides is how much of it is writes: %s%s%s.", yet, consumption, sampling, k.streamSource(at))
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

// starved is the first fix if requests were throttled and no partition was full.
const starved = "Look at the table's or index's capacity, its maximum, and the account's quota: no partition was full, and no other key helps against that."

// relief returns the first fix of a key whose requests a full partition refuses.
func (k *Key) relief(at Place) string {
	if k.LargestItem != nil && *k.LargestItem > divisible {
		return fmt.Sprintf("Change how its largest item is used: it has %s of the load, and neither shards nor a split of the partition divide an item. %s", wording.Percent(*k.LargestItem), k.itemFix())
	}
	first := "Let clients back off between retries, and wait some minutes: DynamoDB splits a partition that stays full"
	if at.Index == "" {
		first = fmt.Sprintf("See whether the table has a local secondary index (aws dynamodb describe-table --table-name %s --query Table.LocalSecondaryIndexes): with one a key's items are never split. Without one let clients back off between retries, and wait some minutes: DynamoDB splits a partition that stays full", wording.Printable(at.Table))
	}
	if k.LargestItem == nil {
		return first + fmt.Sprintf(", unless one item has most of the load, which is not known: %s tell. Still throttled after a quarter of an hour: take samples before you shard the key%s.", sampling, k.leastShards(at))
	}
	return first + fmt.Sprintf(", and its load is on many items; sort keys that only grow are not helped. Still throttled after a quarter of an hour: shard the key%s. How many shards, and the code: from %s%s.", k.leastShards(at), sampling, k.streamSource(at))
}

// itemFix returns the fix for one item's load, for writes or reads if the bounds decide.
func (k *Key) itemFix() string {
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

// leastShards returns the shards that the least load needs, if that is more than one.
func (k *Key) leastShards(at Place) string {
	n := detect.Shards(detect.Milli(k.shares(*k.Value).Low*detect.Units(detect.PartitionWrite)), detect.PartitionWrite, at.Headroom)
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(", into at least %d shards (%g times the load that was served; what was throttled comes on top)", n, at.Headroom)
}

// secondsSource names the sources of a key's load by second.
func (k *Key) secondsSource(at Place) string { return sampling + k.streamSource(at) }

// streamSource names the command that reads the table's stream. It is empty for a key
// that is only read: a stream has only writes.
func (k *Key) streamSource(at Place) string {
	if k.Bounds == nil || k.WCU.High == 0 {
		return ""
	}
	return ", or, of writes that succeeded, reporter analyze --stream " + wording.Printable(at.Table)
}
