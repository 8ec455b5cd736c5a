package fixes

import (
	"fmt"
	"math"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
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
func smallItemOfChanges(_ *Adviser, c *Case) (fix, bool) {
	if !LittleChanges(c.Finding) {
		return fix{}, false
	}
	e := c.Evidence
	left := c.blocks(e.ItemBytes**e.ChangedShare) / c.blocks(e.ItemBytes)
	text := fmt.Sprintf("Items are of %s, of which a write changes %.1f%%: put what changes into an item of its own (vertical partitioning). A write of it costs %s instead of %s, and the peak is about %s a second instead of %s.",
		wording.Size(e.ItemBytes), 100**e.ChangedShare, unitWord(c.blocks(e.ItemBytes**e.ChangedShare)), wording.Roughly(c.blocks(e.ItemBytes)),
		wording.PerSecond(detect.Milli(left*c.peak()), c.Kind), wording.About(c.peak()))
	if len(e.Attributes) > 0 {
		text += fmt.Sprintf(" The attribute that changes most often is %s.", wording.Quote(e.Attributes[0].Text))
	}
	return fix{text: text, basis: "the images of written items", after: c.after(left, left), takes: c.ofNewItems(detect.EffortCode)}, true
}

// smallItemOfWrites is vertical partitioning for writes of which nothing tells how much they
// change. What is put under ever new sort keys is new, and gains nothing by it.
func smallItemOfWrites(_ *Adviser, c *Case) (fix, bool) {
	isNew := c.movesOn() && c.part(sample.UpdateItem) < worthShare
	if c.reads() || !c.hasLargeItems() || c.Evidence.ChangedShare != nil || isNew {
		return fix{}, false
	}
	return fix{
		text: fmt.Sprintf("Where a write changes little of an item, put what changes into an item of its own (vertical partitioning): a write pays for all of an item, %s, and one of a small item costs as little as 1 unit.",
			wording.MeanSize(c.Evidence)),
		basis: "how much of an item a write changes is not in them", takes: c.ofNewItems(detect.EffortCode),
	}, true
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

// LargeItem returns what to do about large items of which writes change little.
func LargeItem(f *detect.Finding) detect.Step {
	peak := f.Peak.WCU.Value
	c := &Case{Finding: f, Load: detect.Milli(peak)}
	s, _ := smallItemOfChanges(nil, c)
	return detect.Step{Action: detect.ActionVertical, Text: s.text, Effort: detect.EffortItems, After: s.after, Basis: s.basis, Guide: "large-items"}
}

func unitWord(n float64) string {
	if n == 1 {
		return "1 unit"
	}
	return fmt.Sprintf("%.0f units", n)
}

// smallItemOfReads is vertical partitioning for reads of large items.
func smallItemOfReads(_ *Adviser, c *Case) (fix, bool) {
	if !c.reads() || !c.hasLargeItems() {
		return fix{}, false
	}
	blocks := c.blocks(c.Evidence.ItemBytes)
	return fix{
		text: fmt.Sprintf("Items are of %s, and a read pays for all of an item whatever it asks for: put what is read often into an item of its own, of up to 4 KB (vertical partitioning). A read of it costs one where it costs %s now.",
			wording.MeanSize(c.Evidence), wording.Roughly(blocks)),
		basis: "the size of the items; how much of them readers need is not known", after: c.after(1/blocks, 1),
	}, true
}

// compression is for large items that change as a whole, or of which that is not known.
func compression(_ *Adviser, c *Case) (fix, bool) {
	if !c.hasLargeItems() || LittleChanges(c.Finding) {
		return fix{}, false
	}
	what := "write"
	if c.reads() {
		what = "read"
	}
	return fix{
		text: fmt.Sprintf("Make items smaller: compress large attributes before they are stored. Items are of %s, so that a %s of one costs %s times the smallest.%s",
			wording.MeanSize(c.Evidence), what, wording.Roughly(c.blocks(c.Evidence.ItemBytes)), c.toSave()),
		basis: "the size of the items; how far they shrink depends on what is in them", after: c.after(c.ofSmallItems(), 1), takes: c.asWritten(detect.EffortCode),
	}, true
}

// toSave says by how much items have to shrink for the peak to reach the limit, and the
// share of it from which the policy has a finding: to whole blocks, since a request pays for
// those. A sentence more begins with a space.
func (c *Case) toSave() string {
	bytes, blocks, limit := c.Evidence.ItemBytes, c.blocks(c.Evidence.ItemBytes), detect.Units(detect.Limit(c.Kind))
	block := c.blockBytes()
	need := func(share float64) string {
		left := math.Floor(blocks*share*limit/c.peak() + 1e-9)
		if left < 1 {
			return "" // more than there is
		}
		return fmt.Sprintf("%.0f%%", math.Ceil(100*(1-left*block/bytes)))
	}
	text, warning := " Half of the bytes are half of the load", c.Policy.Warning
	if blocks < fewBlocks {
		text = fmt.Sprintf(" A request pays for whole blocks of %g KB", block/1024)
	}
	reach, further := "", ""
	if c.peak() > limit {
		reach = need(1)
	}
	if warning < 1 && c.peak() > warning*limit {
		further = need(warning)
	}
	switch {
	case reach != "" && further != "":
		text += fmt.Sprintf(": at least %s of the bytes have to be saved to reach the limit, and %s for %s of it", reach, further, wording.Percent(warning))
	case reach != "":
		text += fmt.Sprintf(": at least %s of the bytes have to be saved to reach the limit", reach)
	case c.peak() > limit:
		text += ": items of one block each are above the limit still"
	case further != "":
		text += fmt.Sprintf(": at least %s of the bytes have to be saved for %s of the limit", further, wording.Percent(warning))
	}
	return text + "."
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
func objectStore(_ *Adviser, c *Case) (fix, bool) {
	if !c.hasLargeItems() || c.Evidence.ItemBytes < largeValueBytes || LittleChanges(c.Finding) {
		return fix{}, false
	}
	left, until := c.ofSmallItems(), ""
	if !c.reads() {
		until = " An item moves with its next write, and until then readers take both forms."
	}
	return fix{
		text: fmt.Sprintf("Store the large value in S3 and its address in the item: it is the size of %s that makes the key hot, not the number of requests. The peak is then about %s a second.",
			wording.Size(c.Evidence.ItemBytes), wording.PerSecond(detect.Milli(left*c.peak()), c.Kind)) + until,
		basis: "the size of the items", after: c.after(left, left), takes: c.asWritten(detect.EffortComponent),
	}, true
}

// sparseIndex is for a key of an index that nobody asks for, while others are.
func sparseIndex(_ *Adviser, c *Case) (fix, bool) {
	if c.Kind != detect.HotGSIKey || c.Mean.RCU.High > 0 || c.TargetRCU <= 0 || c.Quality.Source != detect.SourceRequests {
		return fix{}, false
	}
	return fix{
		text: fmt.Sprintf("Leave items with %s out of the index (a sparse index): in %s no query asked for them, while other values of the index were read. Remove the index's key attribute from such items, or do not write it.",
			wording.Quote(c.Key), wording.Seconds(int(c.Seconds))),
		basis: "the reads of the index that were seen", after: c.after(0, 0),
	}, true
}

// keyOfQueries is an index by what its queries know beside the value that they all ask
// for. A cache comes first where it is known to answer them.
func keyOfQueries(_ *Adviser, c *Case) (fix, bool) {
	if !c.reads() || !c.ofGlobalIndex() || c.part(sample.Query) < mostShare {
		return fix{}, false
	}
	f := fix{
		text: fmt.Sprintf("Query by an index key with more values: put what these queries know beside %s into it, such as %s#<customer>, so that each asks for a small part of what all ask for now. A cache answers only what is asked again.",
			wording.Quote(c.Key), wording.Printable(c.Key)),
		basis: "the operations; how much the queries have in common is not known", after: c.after(0, 1), place: first,
	}
	if hits, known := c.hitRate(); known && hits >= worthShare {
		f.place = byEffect
	}
	return f, true
}

// keyOfWrites is an index whose key has more values than the one that is written much.
func keyOfWrites(_ *Adviser, c *Case) (fix, bool) {
	if c.Kind != detect.HotGSIKey || c.Shards < 2 {
		return fix{}, false
	}
	return fix{
		text: fmt.Sprintf("Where the queries of the index know more than %s, give it a key with more values: an attribute that they know beside it, such as %s#<customer>. A query then reads one customer's part; for queries that want all of %s at once shards are better. The key of an index is fixed, so that takes a new one.",
			wording.Quote(c.Key), wording.Printable(c.Key), wording.Quote(c.Key)),
		basis: "how much of the load one value of another attribute has is not known", after: c.after(0, 1),
	}, true
}

// smallerProjection is for an index whose entries are larger than a unit.
func smallerProjection(_ *Adviser, c *Case) (fix, bool) {
	if c.Kind != detect.HotGSIKey || c.Evidence == nil || c.Evidence.Records < detect.MinRecords || c.Evidence.ItemBytes <= sample.WriteUnitBytes {
		return fix{}, false
	}
	blocks := c.blocks(c.Evidence.ItemBytes)
	return fix{
		text: fmt.Sprintf("Project fewer attributes: an index entry is of %s, and a write of it costs %s instead of 1. An attribute that is not projected does not write to the index when it changes. The projection of an index is fixed, so that takes a new one.",
			wording.MeanSize(c.Evidence), unitWord(blocks)),
		basis: "the size of the index entries", after: c.after(1/blocks, 1),
	}, true
}
