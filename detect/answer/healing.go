package answer

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// Outlook is whether a hot spot heals by itself.
type Outlook string

// The outlooks.
const (
	// Ended means that it is over.
	Ended Outlook = "ended"
	// No means that neither a split nor time helps.
	No Outlook = "no"
	// Likely means that DynamoDB can split the load, after some minutes.
	Likely Outlook = "likely"
	// WithLoad means that it ends with the load that causes it, such as a Scan.
	WithLoad Outlook = "with_load"
	// Open means that the verdict takes more seconds of load.
	Open Outlook = "open"
	// Unknown means that the samples do not show it.
	Unknown Outlook = "unknown"
)

// Ground is why an outlook holds.
type Ground string

// The grounds of an outlook.
const (
	GroundItem       Ground = "item"        // one item stays in one partition
	GroundLocalIndex Ground = "local_index" // a table with a local index never splits a key
	GroundSortKey    Ground = "sort_key"    // the load follows the sort key
	GroundMoving     Ground = "moving"      // the load moves on before a split comes
	GroundPeriod     Ground = "time"        // the next period's key begins in one partition again
	GroundBursts     Ground = "bursts"      // a split does not help bursts
	GroundNoSplit    Ground = "failure"     // DynamoDB had the time that splits take
	GroundCapacity   Ground = "capacity"    // a setting or less load ends it
	GroundDesign     Ground = "design"      // the key's design or a caller makes it
	GroundSplit      Ground = "split"       // a split divides the load
	GroundKeys       Ground = "keys"        // a split divides the keys of the partition
	GroundSplitDone  Ground = "old_split"   // DynamoDB may have split the key already
	GroundNoSortKeys Ground = "no_sort_keys"
	GroundHashedKeys Ground = "hashed_keys"
	GroundFewSamples Ground = "few_samples"
	GroundBatchTimes Ground = "batch_times"
	GroundNotDecided Ground = "not_decided"
	GroundNotSeen    Ground = "not_seen" // which keys share the partition
)

// Healing is the outlook of a finding.
type Healing struct {
	Outlook Outlook
	Ground  Ground
	// Known is how much longer the load has to last for a verdict: of an Open outlook.
	Known time.Duration
}

func healingOf(f *detect.Finding) Healing {
	switch {
	case f.State == detect.Resolved:
		return Healing{Outlook: Ended}
	case isOwn(f):
		return Healing{Outlook: No, Ground: GroundDesign}
	case f.Kind == detect.TableStarvation:
		return Healing{Outlook: No, Ground: GroundCapacity}
	}
	switch f.Kind {
	case detect.SingleCaller, detect.TestKey, detect.RetryStorm:
		return Healing{Outlook: WithLoad}
	case detect.LowCardinalityKey, detect.TooFewShards, detect.TooManyShards, detect.UnevenShards, detect.LargeItem, detect.LargeCollection:
		return Healing{Outlook: No, Ground: GroundDesign}
	}
	switch f.Reason {
	case detect.HotItem:
		return Healing{Outlook: No, Ground: GroundItem}
	case detect.LSIBlocked:
		return Healing{Outlook: No, Ground: GroundLocalIndex}
	case detect.RollingKey:
		return Healing{Outlook: No, Ground: GroundPeriod}
	case detect.MonotonicSortKey:
		return Healing{Outlook: No, Ground: GroundSortKey}
	case detect.MovingLoad:
		return Healing{Outlook: No, Ground: GroundMoving}
	case detect.Scanned:
		return Healing{Outlook: WithLoad}
	case detect.Starved:
		return Healing{Outlook: No, Ground: GroundCapacity}
	case detect.Splittable:
		return healingBySplit(f)
	}
	return healingUnproven(f)
}

// healingBySplit is the outlook of a load that splits can divide: in the time that splits
// take it is likely, and later refusals show whether they came.
func healingBySplit(f *detect.Finding) Healing {
	switch {
	case f.Severity == detect.Critical && f.Kind == detect.HotPartition, Overdue(f) && StillRefused(f):
		return Healing{Outlook: No, Ground: GroundNoSplit}
	case Overdue(f):
		return Healing{Outlook: Unknown, Ground: GroundSplitDone}
	case f.Kind == detect.HotPartition:
		return Healing{Outlook: Likely, Ground: GroundKeys}
	}
	return Healing{Outlook: Likely, Ground: GroundSplit}
}

func healingUnproven(f *detect.Finding) Healing {
	e := f.Evidence
	switch {
	case f.Quality.InBatches():
		return Healing{Outlook: Unknown, Ground: GroundBatchTimes}
	case e == nil || e.Records < detect.MinRecords:
		return Healing{Outlook: Unknown, Ground: GroundFewSamples}
	case !f.Kind.OfKey():
		return Healing{Outlook: Unknown, Ground: GroundNotSeen}
	case e.SortKeys == nil:
		return Healing{Outlook: Unknown, Ground: GroundNoSortKeys}
	case e.Split == nil:
		return Healing{Outlook: Open, Known: detect.SplitSeconds * time.Second}
	case e.Split.Verdict == detect.SplitHidden:
		return Healing{Outlook: Unknown, Ground: GroundHashedKeys}
	case e.Split.Verdict == detect.SplitBursts:
		return Healing{Outlook: No, Ground: GroundBursts}
	case e.Split.Seconds < detect.SplitSeconds:
		return Healing{Outlook: Open, Known: time.Duration(detect.SplitSeconds-e.Split.Seconds) * time.Second}
	case e.Split.Direction == detect.Rising || e.Split.Direction == detect.Falling:
		return Healing{Outlook: Unknown, Ground: GroundSortKey}
	}
	return Healing{Outlook: Unknown, Ground: GroundNotDecided}
}

// HotFor returns for how long a key has been hot: since the first second that shows it or,
// where its mean is proven above the limit, in all its seconds.
func HotFor(f *detect.Finding) time.Duration {
	hot := f.LastSeen.Sub(f.FirstSeen) + time.Second
	if detect.Side(f.Kind, f.Mean.WCU, f.Mean.RCU).Low > detect.Units(detect.Limit(f.Kind)) {
		hot = max(hot, time.Duration(f.Seconds)*time.Second)
	}
	return hot
}

// Overdue reports whether a key has been above the limit for longer than splits are
// expected to take.
func Overdue(f *detect.Finding) bool {
	return HotFor(f) >= detect.HealSeconds*time.Second && f.Utilization > 1
}

// StillRefused reports whether the key's partition was seen to refuse requests.
func StillRefused(f *detect.Finding) bool {
	return refusedFor(f, sample.KeyRange) > 0 || f.SaturatedSeconds > 0
}
