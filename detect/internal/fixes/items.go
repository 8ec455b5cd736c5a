package fixes

import (
	"math"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// blocks returns the units of a request for an item of some bytes, rounded up, before the
// price of its consistency.
func (c *Case) blocks(bytes float64) float64 {
	return max(1, math.Ceil(bytes/c.blockBytes()))
}

// blockBytes returns the bytes of one such unit.
func (c *Case) blockBytes() float64 {
	return detect.Side[float64](c.Subject, sample.WriteUnitBytes, sample.ReadUnitBytes)
}

// hasLargeItems reports whether requests for single large items make the load.
func (c *Case) hasLargeItems() bool {
	return c.Index == "" && c.Evidence != nil && c.Evidence.Records >= detect.MinRecords && c.Evidence.ItemBytes > detect.LargeItemBytes &&
		c.part(sample.Query) < worthShare
}

// LittleChanges reports whether writes pay mostly for bytes that they do not change.
func LittleChanges(f *detect.Finding) bool {
	e := f.Evidence
	return f.Subject != detect.KeyReads && f.Index == "" && e != nil && e.Records >= detect.MinRecords && e.ChangedShare != nil &&
		e.ItemBytes >= detect.LargeItemBytes && *e.ChangedShare <= detect.LittleChangeShare
}

// smallItemOfChanges is vertical partitioning for writes.
func smallItemOfChanges(c *Case) (fix, bool) {
	if !LittleChanges(c.Finding) {
		return fix{}, false
	}
	e := c.Evidence
	left := c.blocks(e.ItemBytes**e.ChangedShare) / c.blocks(e.ItemBytes)
	f := fix{arguments: detect.Arguments{Bytes: e.ItemBytes, Share: *e.ChangedShare}, after: c.newAfter(left, left), takes: c.effortForNewItems(detect.EffortCode)}
	if len(e.Attributes) > 0 {
		f.arguments.Attribute = e.Attributes[0].Text
	}
	return f, true
}

// smallItemOfWrites is vertical partitioning for writes of unknown change. New items, under
// ever new sort keys, gain nothing by it.
func smallItemOfWrites(c *Case) (fix, bool) {
	isNew := c.movesOn() && c.part(sample.UpdateItem) < worthShare
	if c.reads() || !c.hasLargeItems() || c.Evidence.ChangedShare != nil || isNew {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Bytes: c.Evidence.ItemBytes}, takes: c.effortForNewItems(detect.EffortCode)}, true
}

// effortForNewItems returns an effort for a fix of items if only new items need it: the old
// keys of a key named after a time are no longer hot. Otherwise it is empty.
func (c *Case) effortForNewItems(e detect.Effort) detect.Effort {
	if c.Rolling == nil {
		return ""
	}
	return e
}

// effortOfWriters returns an effort for a fix of stored values if only the writers change:
// the load itself writes the items anew. Otherwise it is empty.
func (c *Case) effortOfWriters(e detect.Effort) detect.Effort {
	if c.reads() {
		return c.effortForNewItems(e)
	}
	return e
}

// LargeItem returns the step for large items with little change.
func LargeItem(f *detect.Finding) detect.Step {
	found, _ := smallItemOfChanges(caseOf(f))
	found.takes = ""
	return found.step(detect.FixChangingItem)
}

// smallItemOfReads is vertical partitioning for reads of large items.
func smallItemOfReads(c *Case) (fix, bool) {
	if !c.reads() || !c.hasLargeItems() {
		return fix{}, false
	}
	blocks := c.blocks(c.Evidence.ItemBytes)
	return fix{arguments: detect.Arguments{Bytes: c.Evidence.ItemBytes}, after: c.newAfter(1/blocks, 1)}, true
}

// mostCompressed is the largest share of its bytes that compression may be hoped to save:
// JSON shrinks to a third or a quarter.
const mostCompressed = 0.75

// compression is for large items that change as a whole, or may.
func compression(c *Case) (fix, bool) {
	if !c.hasLargeItems() || LittleChanges(c.Finding) || c.bytesToSave() > mostCompressed {
		return fix{}, false
	}
	return fix{
		arguments: detect.Arguments{Bytes: c.Evidence.ItemBytes, Share: c.bytesToSave()},
		after:     c.newAfter(c.shareOfSmallItems(), 1), takes: c.effortOfWriters(detect.EffortCode),
	}, true
}

// bytesToSave returns the least share of the items' bytes that brings the peak to the
// limit or, if it is below that, to the policy's share of it; 0 if no saving does. A
// request pays for whole blocks.
func (c *Case) bytesToSave() float64 {
	target := detect.Units(detect.Limit(c.Subject))
	if c.peak() <= target {
		target *= c.Policy.Warning
	}
	blocks := math.Floor(c.blocks(c.Evidence.ItemBytes)*target/c.peak() + 1e-9)
	if blocks < 1 || c.peak() <= target {
		return 0
	}
	return math.Ceil(100*(1-blocks*c.blockBytes()/c.Evidence.ItemBytes)) / 100
}

// shareOfSmallItems returns the share of the peak that is left if every item is as small as
// one unit. A write costs at least a whole unit.
func (c *Case) shareOfSmallItems() float64 {
	left := c.peak() / c.blocks(c.Evidence.ItemBytes)
	if !c.reads() {
		left = math.Ceil(left)
	}
	return min(1, left/c.peak())
}

// objectStore is for values that S3 holds for less.
func objectStore(c *Case) (fix, bool) {
	if !c.hasLargeItems() || c.Evidence.ItemBytes < detect.LargeValueBytes || LittleChanges(c.Finding) {
		return fix{}, false
	}
	left := c.shareOfSmallItems()
	return fix{arguments: detect.Arguments{Bytes: c.Evidence.ItemBytes}, after: c.newAfter(left, left), takes: c.effortOfWriters(detect.EffortComponent)}, true
}

// sparseIndex is for an index key that no query reads, in an index that queries do read.
func sparseIndex(c *Case) (fix, bool) {
	unread := c.loadsIndex() && c.Mean.RCU.High <= 0 && c.TargetRCU > 0 && c.Quality.Source == detect.SourceRequests
	return fix{arguments: detect.Arguments{Seconds: int(c.Seconds)}, after: c.newAfter(0, 0)}, unread
}

// keyOfQueries is an index with a key of more attributes that its queries know. A cache
// comes first if it certainly answers them.
func keyOfQueries(c *Case) (fix, bool) {
	f := fix{after: c.newAfter(0, 1), place: first}
	if hits, known := c.hitRate(); known && hits >= worthShare {
		f.place = byEffect
	}
	return f, c.reads() && c.ofGlobalIndex() && c.part(sample.Query) >= mostShare
}

// keyOfWrites is an index with a key of more values.
func keyOfWrites(c *Case) (fix, bool) {
	return fix{after: c.newAfter(0, 1)}, c.loadsIndex() && c.Shards >= 2
}

// smallerProjection is for an index whose entries are larger than a unit.
func smallerProjection(c *Case) (fix, bool) {
	if !c.loadsIndex() || c.Evidence == nil || c.Evidence.Records < detect.MinRecords || c.Evidence.ItemBytes <= sample.WriteUnitBytes {
		return fix{}, false
	}
	blocks := c.blocks(c.Evidence.ItemBytes)
	return fix{arguments: detect.Arguments{Bytes: c.Evidence.ItemBytes}, after: c.newAfter(1/blocks, 1)}, true
}
