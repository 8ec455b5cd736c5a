package casebook

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

// The grounds of an outlook that no finding has.
const (
	GroundNoSplit   detect.Ground = "failure"   // DynamoDB had the time that splits take
	GroundSplitDone detect.Ground = "old_split" // DynamoDB may have split the key already
	GroundCapacity  detect.Ground = "capacity"  // a setting or less load ends it
	GroundDesign    detect.Ground = "design"    // the key's design or a caller makes it
	GroundMasked    detect.Ground = "masked"    // many keys may be behind a mask
)

// Healing is the outlook of a finding.
type Healing struct {
	Outlook Outlook
	Ground  detect.Ground
	// Known is how much longer the load has to last for a verdict: of an Open outlook.
	Known time.Duration
}

// heals returns the outlook of a finding.
func (c *Case) heals(f *detect.Finding) Healing {
	switch {
	case f.State == detect.Resolved:
		return Healing{Outlook: Ended}
	case c.Heals == nil:
		return healsBySplit(f)
	}
	return c.Heals(f)
}

func healsWithLoad(*detect.Finding) Healing { return Healing{Outlook: WithLoad} }

func healsByDesign(*detect.Finding) Healing { return Healing{Outlook: No, Ground: GroundDesign} }

func healsByCapacity(*detect.Finding) Healing { return Healing{Outlook: No, Ground: GroundCapacity} }

// healsBySplit is the outlook of load that only splits of partitions could divide.
func healsBySplit(f *detect.Finding) Healing {
	switch f.Ground {
	case detect.GroundSplit, detect.GroundKeys:
		return splitExpected(f)
	case detect.GroundItem, detect.GroundLocalIndex, detect.GroundPeriod, detect.GroundSortKey, detect.GroundMoving, detect.GroundPositions:
		return Healing{Outlook: No, Ground: f.Ground}
	case detect.GroundBursts:
		if s := f.PredictedSplit(); s != nil && s.Load >= detect.Units(f.Limit()) {
			return Healing{Outlook: Unknown, Ground: f.Ground}
		}
		return Healing{Outlook: No, Ground: f.Ground}
	case detect.GroundYoung:
		known := time.Duration(0)
		if s := f.PredictedSplit(); s != nil {
			known = time.Duration(s.Seconds) * time.Second
		} else if f.Evidence == nil { // the key shards have it
			known = HotFor(f)
		}
		return Healing{Outlook: Open, Ground: f.Ground, Known: max(time.Second, detect.SplitSeconds*time.Second-known)}
	}
	return Healing{Outlook: Unknown, Ground: f.Ground}
}

// splitExpected is the outlook of a load that splits can divide: in the time that splits
// take it is likely, and later refusals show whether they came.
func splitExpected(f *detect.Finding) Healing {
	switch {
	case f.Subject == detect.SubjectPartition && HotFor(f) >= detect.HealSeconds*time.Second, Overdue(f) && StillRefused(f):
		return Healing{Outlook: No, Ground: GroundNoSplit}
	case Overdue(f):
		return Healing{Outlook: Unknown, Ground: GroundSplitDone}
	}
	return Healing{Outlook: Likely, Ground: f.Ground}
}

// HotFor returns for how long a key has been hot: since the first second that shows it or,
// where its mean is proven above the limit, in all its seconds.
func HotFor(f *detect.Finding) time.Duration {
	hot := f.LastSeen.Sub(f.FirstSeen) + time.Second
	if detect.SideOf(f, f.Mean.WCU, f.Mean.RCU).Low > detect.Units(f.Limit()) {
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
