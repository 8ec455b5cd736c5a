package fixes

import (
	"fmt"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
)

// The actions by what they do to the units that the table or index as a whole takes.
var (
	saving = []string{
		detect.ActionCaller, detect.ActionTransaction, detect.ActionRead, detect.ActionQuery, detect.ActionCache,
		detect.ActionCompress, detect.ActionVertical, detect.ActionObject, detect.ActionSparse,
	}
	keeping = []string{detect.ActionShard, detect.ActionSplit, detect.ActionRename, detect.ActionCapacity, detect.ActionCopies}
)

// needs returns what the table or index as a whole needs once a fix is done, beside the
// most that the default quota allows it; empty where nothing changes or nothing tells.
func (c *Case) needs(e *entry, f *fix) string {
	if c.Share <= 0 {
		return ""
	}
	now := c.whole()
	switch {
	case c.ofGlobalIndex() && e.effort == detect.EffortKeys || e.action == detect.ActionProject:
		own := "about " + c.most(now)
		switch {
		case c.reads():
			own = "write units of its own" // which nobody saw
		case e.action == detect.ActionProject:
			own = "at most " + own
		}
		return fmt.Sprintf("The new index takes %s, beside the old one's until that is deleted.%s", own, c.onDemand(" Both are billed until then."))
	case slices.Contains(saving, e.action) && f.after != nil && f.after.Low < c.peak():
		return c.saved(e.action, now, f.after)
	case slices.Contains(keeping, e.action) && e.effort != detect.EffortNone:
		return c.kept(e.action, now)
	}
	return ""
}

// saved is for a fix after which fewer units are taken.
func (c *Case) saved(action string, now float64, after *detect.After) string {
	low, high := wording.Rounded(now-c.peak()+after.Low), wording.Rounded(now-c.peak()+after.High)
	then := "about " + c.amount(low)
	switch {
	case after.High >= c.peak():
		then = "as little as about " + c.amount(low)
	case wording.About(low) != wording.About(high):
		then = fmt.Sprintf("about %s to %s", wording.About(low), c.amount(high))
	}
	text := fmt.Sprintf("The %s as a whole then takes %s a second at such a peak, and about %s now.%s", c.tableOrIndex(), then, wording.About(now), c.onDemand(" On demand, only what is used is billed."))
	switch given := c.provisioned(); {
	case given > high:
		text += fmt.Sprintf(" Of the %s provisioned up to %s are then not needed at such a peak.", wording.About(given), wording.About(given-low))
	case given > 0:
		text += fmt.Sprintf(" It is provisioned with %s, which is still too little.", wording.About(given))
	}
	switch action {
	case detect.ActionCache:
		text += " A DAX cluster is paid for by the hour, whatever it answers."
	case detect.ActionObject:
		text += " S3 charges for its own requests."
	}
	return text
}

// kept is for a fix after which the same units are taken, on more partitions: also those
// that are throttled now.
func (c *Case) kept(action string, now float64) string {
	text := fmt.Sprintf("As now, the %s as a whole is asked for about %s", c.tableOrIndex(), c.most(now))
	if action == detect.ActionShard && c.reads() && c.requests(sample.Query) > 0 {
		text += ", and for what more queries cost"
	}
	text += "."
	if given := c.provisioned(); given > 0 && given < now {
		text += fmt.Sprintf(" It is provisioned with %s: raise that first.", wording.About(given))
	}
	if action == detect.ActionCopies && c.Peak.WCU.Value > 0 {
		text += fmt.Sprintf(" A write of the item is %d writes: up to %s where it is %s now.", c.Shards, wording.PerSecond(detect.Milli(float64(c.Shards)*c.Peak.WCU.Value), detect.HotKeyWrite), wording.About(c.Peak.WCU.Value))
	}
	return text
}

// whole returns about what the table or index as a whole takes at such a peak: what the
// others have on average beside it. It is no sum that was counted, and has no more digits
// than that is good for.
func (c *Case) whole() float64 {
	if c.mean() <= 0 {
		return wording.Rounded(c.peak() / c.Share)
	}
	return wording.Rounded(c.peak() + c.tableMean() - c.mean())
}

// most writes an amount a second at such a peak, and the default quota where that is less.
func (c *Case) most(units float64) string {
	return c.amount(units) + " a second at such a peak" + wording.BeyondQuota(units, c.Kind)
}

func (c *Case) amount(units float64) string { return wording.PerSecond(detect.Milli(units), c.Kind) }

// provisioned returns the units of what the case is about that are provisioned; 0 where
// that is not known, and on demand.
func (c *Case) provisioned() float64 {
	wcu, rcu := c.Facts.Capacity(c.Index)
	return detect.Side(c.Kind, wcu, rcu)
}

// onDemand returns a sentence about what is billed by requests; empty for other tables,
// and where nothing tells.
func (c *Case) onDemand(says string) string {
	if c.Facts == nil || c.Facts.Billing != detect.BillingOnDemand {
		return ""
	}
	return says
}

// tableOrIndex names what the key is one of.
func (c *Case) tableOrIndex() string {
	if c.Index != "" {
		return "index"
	}
	return "table"
}
