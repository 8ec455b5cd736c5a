package fixes

import (
	"math"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// blocks returns how many units a request of an item of so many bytes is rounded up to,
// before the price of its consistency.
func (c *Case) blocks(bytes float64) float64 {
	return max(1, math.Ceil(bytes/c.blockBytes()))
}

// blockBytes returns how many bytes such a unit is of.
func (c *Case) blockBytes() float64 {
	return detect.Side[float64](c.Kind, sample.WriteUnitBytes, sample.ReadUnitBytes)
}

// hasLargeItems reports whether the load is that of single items that are large.
func (c *Case) hasLargeItems() bool {
	return c.Index == "" && c.Evidence != nil && c.Evidence.Records >= detect.MinRecords && c.Evidence.ItemBytes > detect.LargeItemBytes &&
		c.part(sample.Query) < worthShare
}

// LittleChanges reports whether writes pay mostly for bytes that stay as they are.
func LittleChanges(f *detect.Finding) bool {
	e := f.Evidence
	return f.Kind != detect.HotKeyRead && f.Index == "" && e != nil && e.Records >= detect.MinRecords && e.ChangedShare != nil &&
		e.ItemBytes >= detect.LargeItemBytes && *e.ChangedShare <= detect.LittleChangeShare
}

// smallItemOfChanges is vertical partitioning for writes.
func smallItemOfChanges(c *Case) (fix, bool) {
	if !LittleChanges(c.Finding) {
		return fix{}, false
	}
	e := c.Evidence
	left := c.blocks(e.ItemBytes**e.ChangedShare) / c.blocks(e.ItemBytes)
	f := fix{arguments: detect.Arguments{Bytes: e.ItemBytes, Share: *e.ChangedShare}, after: c.after(left, left), takes: c.ofNewItems(detect.EffortCode)}
	if len(e.Attributes) > 0 {
		f.arguments.Attribute = e.Attributes[0].Text
	}
	return f, true
}

// smallItemOfWrites is vertical partitioning for writes of which nothing tells how much they
// change. What is put under ever new sort keys is new, and gains nothing by it.
func smallItemOfWrites(c *Case) (fix, bool) {
	isNew := c.movesOn() && c.part(sample.UpdateItem) < worthShare
	if c.reads() || !c.hasLargeItems() || c.Evidence.ChangedShare != nil || isNew {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Bytes: c.Evidence.ItemBytes}, takes: c.ofNewItems(detect.EffortCode)}, true
}

// ofNewItems returns what a fix takes that changes what items are like: of a key that is
// named after a time only that of new ones, since old keys are no longer hot; else empty.
func (c *Case) ofNewItems(e detect.Effort) detect.Effort {
	if c.Rolling == nil {
		return ""
	}
	return e
}

// asWritten returns what a fix takes that changes how a value is stored: of writes only that
// of the items that are written, since the load itself writes them anew; else empty.
func (c *Case) asWritten(e detect.Effort) detect.Effort {
	if c.reads() {
		return c.ofNewItems(e)
	}
	return e
}

// LargeItem returns the step for large items of which writes change little.
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
	return fix{arguments: detect.Arguments{Bytes: c.Evidence.ItemBytes}, after: c.after(1/blocks, 1)}, true
}

// compression is for large items that change as a whole, or of which that is not known.
func compression(c *Case) (fix, bool) {
	if !c.hasLargeItems() || LittleChanges(c.Finding) {
		return fix{}, false
	}
	return fix{
		arguments: detect.Arguments{Bytes: c.Evidence.ItemBytes, Share: c.bytesToSave()},
		after:     c.after(c.ofSmallItems(), 1), takes: c.asWritten(detect.EffortCode),
	}, true
}

// bytesToSave returns the least share of the items' bytes that brings the peak to the
// limit or, if it is below that, to the policy's share of it; 0 if no saving does. A
// request pays for whole blocks.
func (c *Case) bytesToSave() float64 {
	target := detect.Units(detect.Limit(c.Kind))
	if c.peak() <= target {
		target *= c.Policy.Warning
	}
	blocks := math.Floor(c.blocks(c.Evidence.ItemBytes)*target/c.peak() + 1e-9)
	if blocks < 1 || c.peak() <= target {
		return 0
	}
	return math.Ceil(100*(1-blocks*c.blockBytes()/c.Evidence.ItemBytes)) / 100
}

// ofSmallItems returns the share of the peak that is left where each request is of the
// smallest item. A write costs a whole unit, so that there is no part of one.
func (c *Case) ofSmallItems() float64 {
	left := c.peak() / c.blocks(c.Evidence.ItemBytes)
	if !c.reads() {
		left = math.Ceil(left)
	}
	return min(1, left/c.peak())
}

// objectStore is for values that DynamoDB is a costly place for.
func objectStore(c *Case) (fix, bool) {
	if !c.hasLargeItems() || c.Evidence.ItemBytes < largeValueBytes || LittleChanges(c.Finding) {
		return fix{}, false
	}
	left := c.ofSmallItems()
	return fix{arguments: detect.Arguments{Bytes: c.Evidence.ItemBytes}, after: c.after(left, left), takes: c.asWritten(detect.EffortComponent)}, true
}

// sparseIndex is for a key of an index that nobody asks for, while others are.
func sparseIndex(c *Case) (fix, bool) {
	if c.Kind != detect.HotGSIKey || c.Mean.RCU.High > 0 || c.TargetRCU <= 0 || c.Quality.Source != detect.SourceRequests {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Seconds: int(c.Seconds)}, after: c.after(0, 0)}, true
}

// keyOfQueries is an index by what its queries know beside the value that they all ask
// for. A cache comes first where it is known to answer them.
func keyOfQueries(c *Case) (fix, bool) {
	if !c.reads() || !c.ofGlobalIndex() || c.part(sample.Query) < mostShare {
		return fix{}, false
	}
	f := fix{after: c.after(0, 1), place: first}
	if hits, known := c.hitRate(); known && hits >= worthShare {
		f.place = byEffect
	}
	return f, true
}

// keyOfWrites is an index whose key has more values than the one that is written much.
func keyOfWrites(c *Case) (fix, bool) {
	if c.Kind != detect.HotGSIKey || c.Shards < 2 {
		return fix{}, false
	}
	return fix{after: c.after(0, 1)}, true
}

// smallerProjection is for an index whose entries are larger than a unit.
func smallerProjection(c *Case) (fix, bool) {
	if c.Kind != detect.HotGSIKey || c.Evidence == nil || c.Evidence.Records < detect.MinRecords || c.Evidence.ItemBytes <= sample.WriteUnitBytes {
		return fix{}, false
	}
	blocks := c.blocks(c.Evidence.ItemBytes)
	return fix{arguments: detect.Arguments{Bytes: c.Evidence.ItemBytes}, after: c.after(1/blocks, 1)}, true
}
