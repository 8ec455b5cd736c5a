package fixes

import (
	"fmt"
	"math"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/answer"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
)

// splitOf returns the verdict on splits; nil where there is none.
func splitOf(c *Case) *detect.Split {
	if c.Evidence == nil {
		return nil
	}
	return c.Evidence.Split
}

// onlyTogether reports whether the key's reads and writes are over what a partition serves
// only if both count together, which by the Guide they do not.
func (c *Case) onlyTogether() bool {
	return c.Severity == detect.Info && c.Combined > 1 && c.Utilization <= 1 && c.throttled() == 0
}

// cachedFrom is the part of reads in what a key has of both limits from which a cache of them
// is worth naming.
const cachedFrom = 0.25

// seeWhetherThrottled is for a key of which nothing is throttled by the Guide.
func seeWhetherThrottled(_ *Adviser, c *Case) (fix, bool) {
	if !c.onlyTogether() {
		return fix{}, false
	}
	text := fmt.Sprintf("See whether DynamoDB throttles requests, which the %s's metrics ReadKeyRangeThroughputThrottleEvents and WriteKeyRangeThroughputThrottleEvents say: if neither shows it, there is nothing to do.", c.tableOrIndex())
	if reads := c.Peak.RCU.Value / detect.Units(detect.PartitionRead) / c.Combined; reads >= cachedFrom {
		text += fmt.Sprintf(" If one does, cache the reads, as far as they repeat and need not be strongly consistent: they are %s of what the key has of both limits.", wording.Percent(reads))
	}
	return fix{text: text, basis: "nothing is changed", after: c.after(1, 1), place: ahead}, true
}

// splitForHeat is to wait while DynamoDB may split the key's items. Nobody waits for it
// where a partition holds back the writes of a whole table, where the key is all there
// is of one, or where reads can be answered elsewhere sooner.
func splitForHeat(_ *Adviser, c *Case) (fix, bool) {
	if c.Reason != detect.Splittable || answer.Overdue(c.Finding) || c.onlyTogether() {
		return fix{}, false
	}
	lasts := "if the load lasts"
	if c.Index == "" && (c.Facts == nil || c.Facts.LSIs == nil) {
		lasts = "if the load lasts and the table has no local secondary index"
	}
	s, splits := splitOf(c), ""
	if s != nil && s.Splits > 1 {
		splits = fmt.Sprintf(" It takes about %d splits.", s.Splits)
	}
	if c.throttled() > 0 {
		splits += " Until then requests above the limit are throttled."
	}
	wait := "Wait some minutes before changing keys"
	if failed, known := c.FailedShare(); known && failed >= worthShare {
		wait = fmt.Sprintf("Shed load now, or let callers %s later, since %s of the key's requests failed for good in the last minute; and wait some minutes before changing keys", detect.Side(c.Kind, "write", "read"), wording.Percent(failed))
	}
	f := fix{
		basis: "the load was below the limit, and whether DynamoDB splits then is not published",
		text:  fmt.Sprintf("%s: adaptive capacity can split this, %s.%s", wait, lasts, splits),
	}
	f.then = func(string) string {
		return f.text + " If it comes in bursts shorter than that, go on with the next steps."
	}
	if s != nil && s.Splits > 0 {
		f.after = detect.NewAfter(c.Kind, s.Residual, s.Residual)
		f.basis = fmt.Sprintf("the load of the last %s, split as DynamoDB likely would", wording.Seconds(s.Seconds))
	}
	if why := c.notToWait(); why != "" {
		f.place, f.then = last, nil
		f.text = fmt.Sprintf("Meanwhile adaptive capacity can split this after some minutes, %s. Do not wait for it: %s.", lasts, why)
	}
	return f, true
}

// notToWait returns why waiting does not come first; empty where it may.
func (c *Case) notToWait() string {
	switch {
	case c.reads():
		return "a cache answers sooner what is read again"
	case c.Index != "":
		return "while a key of an index fills its partition, writes to the table itself are held back"
	case c.FewValues:
		return "the table has few key values, and splits make no more of them"
	case c.Share >= detect.WholeShare:
		return "all load of the table is on this one key, and grows with it"
	}
	return ""
}

// throttlesStill is to look whether DynamoDB has healed the key in the time that splits
// take, where the samples do not show it.
func throttlesStill(_ *Adviser, c *Case) (fix, bool) {
	if c.Reason != detect.Splittable || !answer.Overdue(c.Finding) || answer.StillRefused(c.Finding) {
		return fix{}, false
	}
	index := ""
	if c.Index == "" && (c.Facts == nil || c.Facts.LSIs == nil) {
		index = " See, too, whether the table has a local secondary index: DynamoDB never splits a key of such a table."
	}
	text := func(next string) string {
		return fmt.Sprintf("See whether the %s's metric %sKeyRangeThroughputThrottleEvents shows that DynamoDB throttles; if it does, do not wait any longer but %s: the key has been hot for %s, longer than splits are expected to take. The samples show no throttled request: either DynamoDB has split the key's items by now and serves them, or the samples do not show what it throttles. If the metric still shows it for the last minutes, the splits of these %s were not enough.",
			c.tableOrIndex(), detect.Side(c.Kind, "Write", "Read"), next, c.hotFor(), c.hotFor()) + index
	}
	return fix{
		text: text("go on with the next steps"), basis: "no throttled request is in the samples", place: ahead,
		then: func(action string) string {
			if action == detect.ActionShard {
				return text(fmt.Sprintf("spread the key over %d shards", c.Shards))
			}
			return text("go on with the next step")
		},
	}, true
}

// hotFor writes for how long the key has been hot.
func (c *Case) hotFor() string {
	return wording.Span(answer.HotFor(c.Finding))
}

// oneShard is for a key that needs no more of them yet.
func oneShard(_ *Adviser, c *Case) (fix, bool) {
	if c.Shards > 1 {
		return fix{}, false
	}
	return fix{text: fmt.Sprintf("One shard still carries it: %s. Watch its growth.", c.sum()), after: c.after(1, 1)}, true
}

// sum is the arithmetic of a shard count, with the range that few samples leave open.
func (c *Case) sum() string {
	text := fmt.Sprintf("ceil(%s / %s × %g) = %d", wording.Amount(c.Load), wording.Amount(detect.Limit(c.Kind)), c.Policy.Headroom, c.Shards)
	fewest, most := c.ShardRange(c.Policy.Headroom)
	if rate := c.Quality.Rate; rate == nil || *rate > detect.RangeRate || fewest >= most {
		return text
	}
	return text + fmt.Sprintf(", of %d to %d that fit the samples", fewest, most)
}

// renamedKey is for a key that is named after a time.
func renamedKey(a *Adviser, c *Case) (fix, bool) {
	if c.Rolling == nil {
		return fix{}, false
	}
	shards := max(2, c.Shards)
	numbered := ""
	if s, err := shardkey.New(shards, namesOf(c).form); err == nil {
		low, lowErr := s.Name(c.Rolling.Template, 0)
		high, highErr := s.Name(c.Rolling.Template, shards-1)
		if lowErr == nil && highErr == nil {
			numbered = fmt.Sprintf(", %s to %s", wording.Printable(low), wording.Printable(high))
		}
	}
	typed := ""
	if c.KeyType == sample.TypeNumber {
		typed = ofNumber(c, c.Rolling.Template)
	}
	return fix{
		takes: c.takes(detect.EffortCode),
		text: fmt.Sprintf("Put something beside the time into the key, such as %s#<customer>, or the number of a shard%s: then the next %s is spread, too. Begin with the next %s: the keys of past %ss stay as they are.",
			wording.Printable(c.Rolling.Template), numbered, c.Rolling.Period, c.Rolling.Period, c.Rolling.Period) + typed + a.sharedPartition(shards, c.Load, c.Kind),
		basis: fmt.Sprintf("the peak, divided evenly over %d shards; how evenly another part divides it is not known", shards),
		after: c.after(1/float64(shards), 1/float64(shards)), place: first,
	}, true
}

// copies are for an item that is read much.
func copies(_ *Adviser, c *Case) (fix, bool) {
	if c.Reason != detect.HotItem || !c.reads() || c.Shards < 2 {
		return fix{}, false
	}
	return fix{
		text:  fmt.Sprintf("Sharding will not help, because one item has the load: shards divide items. Where a cache does not do, keep %d copies of the item under keys of their own (%s), and read one at random; a write then writes all of them.", c.Shards, c.sum()),
		after: c.after(1/float64(c.Shards), 1/float64(c.Shards)),
	}, true
}

// dividedCounter is for a counter that is written much. Its old item is summed with the
// new ones, so that nothing has to be migrated.
func dividedCounter(a *Adviser, c *Case) (fix, bool) {
	if c.Reason != detect.HotItem || c.reads() || c.Shards < 2 || !c.isCounter() {
		return fix{}, false
	}
	names := namesOf(c)
	text := fmt.Sprintf("Divide the counter, if it is one: add to one of %d items (%s) chosen at random%s, and sum all of them on reading by BatchGetItem, with the old item as one more: nothing is copied. A sum costs %s RCU, eventually consistent. Sharding will not help an item that cannot be divided: write it less often then, and gather changes for a second in each process.",
		c.Shards, c.sum(), names.named(), wording.About(float64(c.Shards+1)*detect.QueryMinimum))
	text += a.sharedPartition(c.Shards, c.Load, c.Kind)
	return fix{
		text: text + names.typed, takes: c.takes(detect.EffortCode), after: c.after(1/float64(c.Shards), 1/float64(c.Shards)),
		basis: "small items that are updated", names: names.of(c, detect.SuffixCounter),
	}, true
}

// dividedItem is for another item that is written much, of which the value can be divided.
func dividedItem(_ *Adviser, c *Case) (fix, bool) {
	if c.Reason != detect.HotItem || c.reads() || c.Shards < 2 || c.isCounter() {
		return fix{}, false
	}
	return fix{
		text: fmt.Sprintf("Sharding will not help as the item is, because shards divide items and this is one. If its value can be divided (a counter, a set, a list), make it %d items (%s), write one of them at random, and put them together on reading; else write it less often: gather changes for a second.", c.Shards, c.sum()) +
			namesOf(c).typed,
		after: c.after(1/float64(c.Shards), 1/float64(c.Shards)),
	}, true
}

// isCounter reports whether the load is updates of a small item.
func (c *Case) isCounter() bool {
	return c.part(sample.UpdateItem) >= mostShare && c.Evidence.ItemBytes > 0 && c.Evidence.ItemBytes <= counterBytes
}

// shardedKey spreads a key of a table.
func shardedKey(a *Adviser, c *Case) (fix, bool) {
	if c.Reason == detect.HotItem || c.Shards < 2 || c.Index != "" {
		return fix{}, false
	}
	return a.shards(c, "Spread the key over %d shards"+instead(c)+": %s, about %s a second each"), true
}

// shardedIndex spreads a key of an index, of which the table's keys know nothing.
func shardedIndex(a *Adviser, c *Case) (fix, bool) {
	if c.Reason == detect.HotItem || c.Shards < 2 || c.Index == "" {
		return fix{}, false
	}
	f := a.shards(c, "Spread the key over %d shards in the key of the index alone (the table's keys need not change): %s, about %s a second each")
	return f, true
}

func (a *Adviser) shards(c *Case, format string) fix {
	load := c.Load / sample.Milli(c.Shards)
	names := namesOf(c)
	text := fmt.Sprintf(format, c.Shards, c.sum(), wording.PerSecond(load, c.Kind)) + names.named() + "." + oneItem(c) + " " + suffixKind(c) + " " + fanOut(c)
	text += a.sharedPartition(c.Shards, c.Load, c.Kind) + names.typed + " A later change of the number is a change of the application."
	f := fix{text: text, after: c.after(1/float64(c.Shards), 1/float64(c.Shards)), basis: "the peak, divided evenly"}
	if asked := c.queriesOfAll(); asked > 0 {
		f.after = c.after(1/float64(c.Shards), asked+(1-asked)/float64(c.Shards))
		f.basis = "the peak, divided evenly where each query knows its shard, and not divided where queries ask all shards for as much as they ask the key now"
	}
	f.names = names.of(c, detect.SuffixRandom)
	if ReadBack(c.Finding) >= worthShare && !c.isQueue() {
		f.names.Suffix = detect.SuffixCalculated
	}
	const stays = "the key keeps its load until its shards are live"
	if warm := prewarm(c); warm != "" {
		f.with = append(f.with, detect.Step{Action: detect.ActionPrewarm, Text: warm, Effort: detect.EffortSetting, After: c.after(1, 1), Basis: stays, Guide: "capacity"})
	}
	if more := capacityForCopies(c); more != "" {
		f.with = append(f.with, detect.Step{Action: detect.ActionCapacity, Text: more, Effort: detect.EffortSetting, After: c.after(1, 1), Basis: stays, Guide: "capacity"})
	}
	f.takes = detect.EffortKeys
	if names.base != c.Key || c.Rolling != nil || c.isQueue() {
		f.takes = c.takes(detect.EffortCode) // nothing that is stored is copied
	}
	f.with = append(f.with, detect.Step{Action: detect.ActionMigrate, Text: migration(c, names.base), Effort: f.takes, After: f.after, Basis: f.basis, Guide: "migration"})
	return f
}

// prewarm returns the warm throughput to raise to: shards are new keys, and their
// partitions are made by load or by warm throughput.
func prewarm(c *Case) string {
	what, least, quota := "write", float64(detect.OnDemandWrite), float64(detect.TableQuotaWrite)
	if c.reads() {
		what, least, quota = "read", detect.OnDemandRead, detect.TableQuotaRead
	}
	need := c.peak() * c.Policy.Headroom
	if need <= least || need <= c.tableMean() {
		return ""
	}
	text := fmt.Sprintf("Before the shards go live raise the %s's warm throughput to at least %s %s units a second (%s × %g): a new on-demand table takes %s, and partitions for new keys are otherwise made only as the load grows. It is charged once for what it is raised by, and cannot be lowered.",
		c.tableOrIndex(), wording.About(math.Ceil(need)), what, wording.About(c.peak()), c.Policy.Headroom, wording.About(least))
	if need > quota {
		text += fmt.Sprintf(" That is more than the default quota of a table, %s: ask AWS to raise it first.", wording.About(quota))
	}
	return text
}

// capacityForCopies returns what a provisioned table or index needs while old items are
// copied.
func capacityForCopies(c *Case) string {
	wcu, _ := c.Facts.Capacity(c.Index)
	if c.reads() || c.Rolling != nil || c.Share <= 0 || wcu <= 0 || c.Index == "" && c.isQueue() {
		return ""
	}
	now, copied := c.whole(), detect.Units(detect.ShareOf(detect.PartitionWrite, copyShare))
	if now+copied <= wcu {
		return ""
	}
	return fmt.Sprintf("While old items are copied, provision at least %s write units a second: about %s that the whole takes now, and the copies' %s. It is provisioned with %s.",
		wording.About(math.Ceil(now+copied)), wording.About(now), wording.About(copied), wording.About(wcu))
}

// tableMean returns about the demand on the whole table or index while the key was
// seen: what its partitions carry already.
func (c *Case) tableMean() float64 { return detect.Ratio(c.mean(), c.Share) }

// mean returns the key's mean load.
func (c *Case) mean() float64 { return detect.Side(c.Kind, c.Mean.WCU, c.Mean.RCU).Value }

// remarks are what is worth knowing beside what can be done.
func remarks(c *Case) (all []detect.Step) {
	add := func(action, guide, text string) {
		if text != "" {
			all = append(all, detect.Step{Action: action, Text: text, Guide: guide})
		}
	}
	add(detect.ActionWait, "waiting", waitedEnough(c))
	if c.Kind == detect.HotGSIKey {
		add(detect.ActionIndex, "indexes", "The key is one of an index: while its partition is full, DynamoDB throttles writes to the table itself, whatever their own keys. An index holds only items that have its key: a sparse index is one that leaves out what no query wants.")
	}
	if _, starved := starvedTable(nil, c); !starved && !c.onlyTogether() {
		add(detect.ActionCapacity, "capacity", capacityRemark(c))
	}
	return all
}

// waitedEnough returns the advice not to wait any longer, once splits have not helped
// in the time that they take; empty before, and where that is not seen.
func waitedEnough(c *Case) string {
	if c.Reason != detect.Splittable || !answer.Overdue(c.Finding) || !answer.StillRefused(c.Finding) {
		return ""
	}
	return fmt.Sprintf("Do not wait any longer: the key has been hot for %s, longer than splits are expected to take, and its partition still throttles. DynamoDB did not heal it, although its load could be split.", c.hotFor())
}

// capacityRemark says what the table's own capacity has to do with the key: one
// partition serves what it serves, and a key has more than one only once DynamoDB has
// split its items.
func capacityRemark(c *Case) string {
	limit := wording.PerSecond(detect.Limit(c.Kind), c.Kind)
	of := c.tableOrIndex()
	text := fmt.Sprintf("Raising the table's capacity will not help by itself: one partition serves %s a second whatever the table is provisioned for, and the key's items are in several only where DynamoDB has split them.", limit)
	switch c.Reason {
	case detect.HotItem:
		text = fmt.Sprintf("Raising the table's capacity will not help: one item is held to %s a second whatever the table is provisioned for.", limit)
	case detect.LSIBlocked:
		text = fmt.Sprintf("Raising the table's capacity will not help: the key's items stay in one partition, which serves %s a second whatever the table is provisioned for.", limit)
	}
	if c.movesOn() {
		text = fmt.Sprintf("Raising the table's capacity will not help by itself: one partition serves %s a second whatever the table is provisioned for, and a load that moves on soon leaves behind what a split divided.", limit)
	}
	text = strings.ReplaceAll(text, "the table", "the "+of)
	if c.Share >= detect.CeilingShare && 2*c.mean() >= c.peak() && (c.Reason == detect.HotItem || c.Reason == detect.LSIBlocked || c.Seconds >= detect.CeilingSeconds) {
		on := "this key"
		if c.Rolling != nil {
			on = fmt.Sprintf("the key of one %s", c.Rolling.Period)
		}
		text += fmt.Sprintf(" With %.0f%% of the %s on %s, it alone %s a partition at about %s%s a second of the whole %s, as long as the shares stay as they were in the seconds in which it was seen",
			100*c.Share, detect.Side(c.Kind, "writes", "reads"), on, detect.Side(c.Kind, "fills", "may fill"), wording.Significant(detect.Units(detect.Limit(c.Kind))/c.Share), detect.Side(c.Kind, " write units", " read units"), of)
		if c.Reason != detect.HotItem && c.Reason != detect.LSIBlocked {
			text += " and the key in one partition"
		}
		text += "."
	}
	return text
}
