package fixes

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
)

// onlyTogether reports whether the key exceeds a partition only if reads and writes share
// one budget. By the Guide they do not.
func (c *Case) onlyTogether() bool {
	return c.Severity == detect.Info && c.Combined > 1 && c.Utilization <= 1 && c.Evidence.ThrottledRequests() == 0
}

// checkCombined is for a key that throttles nothing, by the Guide.
func checkCombined(c *Case) (fix, bool) {
	return fix{after: c.newAfter(1, 1), place: ahead}, c.onlyTogether()
}

// waitForSplit is to wait while DynamoDB may split the key's items.
func waitForSplit(c *Case) (fix, bool) {
	f, applies := splitForHeat(c)
	return f, applies && !c.isUrgent()
}

// awaitVerdict is to design no new keys before it is known whether a split helps. A burst is over
// before one comes, and one item never splits.
func awaitVerdict(c *Case) (fix, bool) {
	_, burst := laterWrites(c)
	return fix{}, c.Ground == detect.GroundYoung && !burst && !c.isUrgent() && !c.onlyTogether() && !c.isItem()
}

// splitMeanwhile is a split that may come while a better fix is on its way.
func splitMeanwhile(c *Case) (fix, bool) {
	f, applies := splitForHeat(c)
	f.place = last
	return f, applies && c.isUrgent()
}

func splitForHeat(c *Case) (fix, bool) {
	if !c.Ground.Splits() || casebook.Overdue(c.Finding) || c.onlyTogether() {
		return fix{}, false
	}
	f := fix{}
	if s := c.PredictedSplit(); s != nil && s.Splits > 0 {
		f.arguments.Count, f.arguments.AtLeast, f.after = s.Splits, c.IsCutOff(), detect.NewAfter(c.Subject, s.ResidualLow, s.ResidualHigh)
	}
	return f, true
}

// isUrgent reports whether nobody should wait for a split: a cache answers reads sooner,
// an index key holds back the writes of the whole table, few values stay few, and a key
// with all load of its table grows with it.
func (c *Case) isUrgent() bool {
	return c.reads() || c.Index != "" || c.FewValues || c.Share >= detect.WholeShare
}

// checkSplit is to look whether DynamoDB has split the key, if the samples do not show it.
func checkSplit(c *Case) (fix, bool) {
	open := c.Ground.Splits() && casebook.Overdue(c.Finding) && !casebook.StillRefused(c.Finding)
	return fix{arguments: detect.Arguments{Seconds: int(casebook.HotFor(c.Finding).Seconds())}, place: ahead}, open
}

// keptKey is for a key that one partition still serves.
func keptKey(c *Case) (fix, bool) {
	return fix{after: c.newAfter(1, 1)}, c.Shards <= 1
}

// renamedKey is for a key that is named after a time.
func renamedKey(c *Case) (fix, bool) {
	shards := max(2, c.Shards)
	return fix{
		arguments: detect.Arguments{Count: shards}, takes: c.takes(detect.EffortCode),
		after: c.newAfter(1/float64(shards), 1/float64(shards)), place: first,
	}, c.Rolling != nil
}

// isItem reports whether one item has so much of the key's load, or of a partition's limit,
// that shards by the sort key would leave it on one of them.
func (c *Case) isItem() bool {
	low, _ := c.heaviestItem()
	return c.Ground == detect.GroundItem || c.isNamedItem() || low >= itemShare || low*c.Utilization > c.Policy.Warning
}

// isNamedItem reports whether the name tells that the key is one item, where samples lack sort keys.
func (c *Case) isNamedItem() bool {
	shape := c.shape()
	return c.Ground == detect.GroundNoSortKeys && shape != "" && shape != detect.ShapeQueue && shape != detect.ShapeCounter
}

// heaviestItem returns the bounds of the heaviest item's share of the peak. An index's sort
// key does not name an item.
func (c *Case) heaviestItem() (low, high float64) {
	e := c.Evidence
	if c.Index != "" || e == nil || e.Records < detect.MinRecords || len(e.Items) == 0 {
		return float64(detect.BoolToInt(c.Ground == detect.GroundItem)), 1
	}
	low, high = e.Items[0].Low, e.Items[0].High
	if s := c.PredictedSplit(); s != nil {
		low = max(low, min(1, detect.Ratio(s.Item, c.peak())))
	}
	return low, max(low, high)
}

// copies are for an item with many reads.
func copies(c *Case) (fix, bool) {
	return c.divideItem(), c.isItem() && c.reads() && c.Shards >= 2
}

// divideLoad leaves the key's load, divided evenly over shards, copies or parts.
func (c *Case) divideLoad() fix {
	part := 1 / float64(c.Shards)
	_, resends := c.Resends()
	return fix{arguments: detect.Arguments{Count: c.Shards, AtLeast: c.IsCutOff() || resends || c.Quality.Source == detect.SourceMinutes}, after: c.newAfter(part, part)}
}

// divideItem leaves the load of the fullest key: a part of the item, or the key with its
// other items, since the parts have keys of their own.
func (c *Case) divideItem() fix {
	f, part := c.divideLoad(), 1/float64(c.Shards)
	if low, high := c.heaviestItem(); 1-low > part {
		f.arguments.Units = c.peak() * (1 - high)
		f.after = c.newAfter(max(part, 1-high), 1-low)
	}
	return f
}

// told returns what the key's owner says its items are; empty if nothing.
func (c *Case) told() detect.Shape { return c.Facts.ShapeOf(string(c.Key)) }

// shape returns what the key's items are, by their owner's word or by a name of what cannot be
// divided; empty if neither tells. What is named like a counter may be none: see isCounter.
func (c *Case) shape() detect.Shape {
	if told := c.told(); told != "" {
		return told
	}
	name := string(c.Key)
	if e := c.Evidence; e != nil && len(e.Items) > 0 {
		name += " " + string(e.Items[0].Text)
	}
	if named := detect.NamedShape(name, c.Table); named != detect.ShapeCounter && named != detect.ShapeUnknown {
		return named
	}
	return ""
}

// isShape reports whether the load is writes of one item that is of one of the shapes.
func (c *Case) isShape(of ...detect.Shape) bool {
	return c.isItem() && !c.reads() && slices.Contains(of, c.shape())
}

// lease is for a lock, whose callers ask again and again.
func lease(c *Case) (fix, bool) {
	return fix{arguments: detect.Arguments{Shape: c.told()}, place: first}, c.isShape(detect.ShapeLock)
}

// numberBlocks is for a sequence.
func numberBlocks(c *Case) (fix, bool) { return fix{place: first}, c.isShape(detect.ShapeSequence) }

// workQueue is for the head of a queue, and for what waits at a lock.
func workQueue(c *Case) (fix, bool) {
	return fix{place: first}, c.isShape(detect.ShapeQueue, detect.ShapeLock)
}

// fewerWrites is for items with many writes, unless each write is a step of its own. Nobody knows
// how much it leaves.
func fewerWrites(c *Case) (fix, bool) {
	if c.isShape(detect.ShapeName, detect.ShapeRecord) {
		return fix{place: first}, true // there is nothing to divide
	}
	return fix{place: last}, c.isShape("", detect.ShapeCounter)
}

// dividedCounter is for what may be a counter with many writes. Readers sum its old item with
// the new ones, so nothing has to be migrated.
func dividedCounter(c *Case) (fix, bool) {
	if !c.isItem() || c.reads() || c.Shards < 2 || !c.isCounter() {
		return fix{}, false
	}
	f := c.divideItem()
	f.takes, f.names, f.arguments.Shape = c.takes(detect.EffortCode), c.shardNames(detect.SuffixCounter), c.told()
	return f, true
}

// dividedItem is for another item with many updates, if it has parts that are written by
// themselves. A PutItem or DeleteItem writes the whole item.
func dividedItem(c *Case) (fix, bool) {
	return c.divideItem(), c.isShape("") && c.Shards >= 2 && !c.isCounter() && c.part(sample.UpdateItem) >= mostShare
}

// isCounter reports whether the load is updates of a counter, by its owner's word or because the
// item is small.
func (c *Case) isCounter() bool {
	if told := c.shape(); told != "" {
		return told == detect.ShapeCounter
	}
	return c.part(sample.UpdateItem) >= mostShare && c.Evidence.ItemBytes > 0 && c.Evidence.ItemBytes <= counterBytes
}

// shardedKey spreads a key of a table.
func shardedKey(c *Case) (fix, bool) { return c.shards(c.Index == "") }

// shardedIndex spreads a key of an index. The table's keys stay.
func shardedIndex(c *Case) (fix, bool) { return c.shards(c.Index != "") }

// shards divides a key, with its companion steps. A query of all shards costs as much on
// each shard as it costs now.
func (c *Case) shards(applies bool) (f fix, ok bool) {
	if !applies || c.isItem() || c.Shards < 2 {
		return f, false
	}
	f = c.divideLoad()
	part := 1 / float64(c.Shards)
	if asked := c.part(sample.Query); c.reads() && asked >= worthShare {
		f.after = c.newAfter(part, asked+(1-asked)*part)
	} else if low, high := c.heaviestItem(); low > part {
		f.arguments.Units = c.peak() * low
		f.after = c.newAfter(low, high+(1-high)*part)
	}
	f.names = c.shardNames(detect.SuffixRandom)
	if c.readBack() >= worthShare && !c.isQueue() {
		f.names.Suffix = detect.SuffixCalculated
	}
	f.takes = detect.EffortKeys
	if f.names.Base != c.Key || c.Rolling != nil || c.isQueue() {
		f.takes = c.takes(detect.EffortCode) // stored items stay where they are
	}
	beside := func(code detect.Fix, units float64) {
		s := detect.NewStep(code)
		s.Arguments.Units, s.After = units, c.newAfter(1, 1) // until the shards are live
		f.with = append(f.with, s)
	}
	if units := c.warmUnits(); units > 0 {
		beside(detect.FixPrewarmForShards, units)
	}
	if units := c.capacityForCopies(); units > 0 {
		beside(detect.FixCapacityForCopies, units)
	}
	s := detect.NewStep(c.migration(f.names.Base))
	s.Arguments, s.Effort, s.After = detect.Arguments{Count: c.Shards, Units: copyRate}, f.takes, f.after
	if regions := c.Facts.Regions(c.Region); regions != nil {
		s.Arguments.Region = sample.Text(regions[0]) // the findings of all Regions name the same one
	}
	s.Arguments.Strong = c.Facts != nil && c.Facts.StrongRegions
	f.with = append(f.with, s)
	return f, true
}

// copyRate is the rate of copying old items, in write units a second.
var copyRate = detect.Units(detect.ShareOf(detect.PartitionWrite, copyShare))

// warmUnits returns the warm throughput that the table needs before the key shards are
// live; 0 if it has it. Only load or warm throughput makes partitions for new keys.
func (c *Case) warmUnits() float64 {
	need := c.peak() * c.Policy.Headroom
	if need <= detect.Side[float64](c.Subject, detect.OnDemandWrite, detect.OnDemandRead) || need <= c.tableMean() {
		return 0
	}
	return need
}

// capacityForCopies returns the units that a provisioned table or index needs while old
// items are copied; 0 if it has them.
func (c *Case) capacityForCopies() float64 {
	wcu, _ := c.Facts.Capacity(c.Index)
	if c.reads() || c.Rolling != nil || c.Share <= 0 || wcu <= 0 || c.Index == "" && c.isQueue() || c.wholePeak()+copyRate <= wcu {
		return 0
	}
	return c.wholePeak() + copyRate
}

// tableMean estimates the mean load of the whole table or index while the key was seen.
func (c *Case) tableMean() float64 { return detect.Ratio(c.mean(), c.Share) }

// mean returns the key's mean load.
func (c *Case) mean() float64 { return detect.Side(c.Subject, c.Mean.WCU, c.Mean.RCU).Value }
