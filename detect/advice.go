package detect

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
)

// The actions of advice, in the order in which they are given: what costs least
// and helps soonest comes first. Source of the order: the steps that AWS's
// support gives for throttled tables, retries and callers, then capacity, then
// warm throughput, then cheaper reads, then the key.
const (
	ActionCaller   = "caller"   // fix who asks
	ActionRetry    = "retry"    // fix how it is asked again
	ActionCapacity = "capacity" // whether capacity helps
	ActionWait     = "wait"     // DynamoDB can help by itself
	ActionPrewarm  = "prewarm"  // make room ahead of time
	ActionRead     = "read"     // read cheaper
	ActionCache    = "cache"    // read less
	ActionScan     = "scan"     // slow a Scan down
	ActionVertical = "vertical" // write smaller items
	ActionIndex    = "index"    // change the index
	ActionRename   = "rename"   // change what the key is made of
	ActionCopies   = "copies"   // several copies of one item
	ActionSplit    = "split"    // divide one item's value
	ActionShard    = "shard"    // shard the key
	ActionMigrate  = "migrate"  // get there
)

// Actions lists every action.
func Actions() []string {
	return []string{
		ActionCaller, ActionRetry, ActionCapacity, ActionWait, ActionPrewarm, ActionRead, ActionCache, ActionScan,
		ActionVertical, ActionIndex, ActionRename, ActionCopies, ActionSplit, ActionShard, ActionMigrate,
	}
}

// advice says what to do about a hot key, in order.
func (b *Board) advice(f *Finding, peak figure, r rules) []Step {
	var steps []Step
	add := func(action, text string) {
		if text != "" {
			steps = append(steps, Step{action, text})
		}
	}
	add(ActionCaller, callerAdvice(f))
	add(ActionRetry, retryAdvice(f))
	add(ActionCapacity, capacityAdvice(f, r.kind))
	add(ActionWait, waitAdvice(f))
	if f.Severity == Info {
		return steps
	}
	add(ActionPrewarm, prewarmAdvice(f, r))
	if r.kind == HotKeyRead {
		add(ActionRead, strongAdvice(f))
		add(ActionCache, "If the reads are of few items, cache them (DAX, or in the application), or read them eventually consistently at half the price: shards help a read-hot item collection, not a read-hot item.")
	}
	add(ActionVertical, verticalAdvice(f))
	if r.kind == HotGSIKey {
		add(ActionIndex, "The key is one of an index: while its partition is full, DynamoDB refuses writes to the table itself, whatever their own keys. Leave items out of the index that no query wants (a sparse index), or put the shard into the index key alone: the table's keys need not change.")
	}
	if f.Rolling != nil {
		add(ActionRename, fmt.Sprintf("Put something beside the time into the key, such as %s#<customer>, or shards (below) into each %s's name: then the next %s is spread, too.",
			f.Rolling.Template, f.Rolling.Period, f.Rolling.Period))
	}
	return append(steps, b.shardAdvice(f, peak, r)...)
}

func callerAdvice(f *Finding) string {
	if name, test := testName(f.Key); test {
		return fmt.Sprintf("The key is named like a test (%s): stop or move what writes it, before anything else.", name)
	}
	if f.Evidence == nil || len(f.Evidence.Callers) == 0 {
		return ""
	}
	if c := f.Evidence.Callers[0]; c.Low >= 0.5 {
		return fmt.Sprintf("Look at %s first: it makes %s of the key's load. A loop, a missing cache or a retry storm there is mended faster than a key design.", quoted(c.Text), between(c))
	}
	return ""
}

// retryAdvice is about what was refused: each refusal is asked again.
func retryAdvice(f *Finding) string {
	if f.Evidence == nil {
		return ""
	}
	var refused int64
	for _, n := range f.Evidence.Refused {
		refused += n
	}
	if refused == 0 {
		return ""
	}
	return fmt.Sprintf("%s requests on the key were refused in the seconds looked at. Let clients back off exponentially, with jitter and a limit on attempts: retries at once are load on the same partition.", count(refused))
}

// capacityAdvice says whether the table's own capacity is the bound.
func capacityAdvice(f *Finding, k Kind) string {
	if f.Evidence != nil {
		starved := int64(0)
		for _, c := range []sample.Cause{sample.Provisioned, sample.MaxOnDemand, sample.AccountLimit} {
			starved += f.Evidence.Refused[c.String()]
		}
		if starved > f.Evidence.Refused[sample.KeyRange.String()] {
			return fmt.Sprintf("Check the table's capacity first: %s of the key's requests were refused because the table or account had too little, not because of its partition.", count(starved))
		}
	}
	text := fmt.Sprintf("Raising the table's capacity will not help: one partition key is held to %s a second whatever the table is provisioned for.", perSecond(limit(k), k))
	if f.Share >= tellShare {
		text += fmt.Sprintf(" With %.0f %% of the load on this key the table as a whole can take %s a second.",
			100*f.Share, perSecond(sample.Milli(float64(limit(k))/f.Share), k))
	}
	return text
}

func waitAdvice(f *Finding) string {
	if f.Reason != Splittable {
		return ""
	}
	return "Wait some minutes before changing keys: adaptive capacity can split this, if the load lasts. If it comes in bursts shorter than that, go on with the next steps."
}

// prewarmAdvice is the figure to raise the warm throughput to: shards are new
// keys, and their partitions are made by load or by warm throughput.
func prewarmAdvice(f *Finding, r rules) string {
	if f.Shards < 2 || f.Reason == HotItem {
		return ""
	}
	what, least, peak := "write", float64(OnDemandWrite), f.Peak.WCU.Value
	if r.kind == HotKeyRead {
		what, least, peak = "read", OnDemandRead, f.Peak.RCU.Value
	}
	need := peak * r.Headroom
	if need <= least || need <= f.tableMean(r.kind) {
		return ""
	}
	where := "table's"
	if f.Index != "" {
		where = "index's"
	}
	return fmt.Sprintf("Before the shards go live raise the %s warm throughput to at least %s %s units a second (%s × %g): a new on-demand table takes %s, and partitions for new keys are otherwise made only as the load grows.",
		where, about(math.Ceil(need)), what, about(peak), r.Headroom, about(least))
}

// tableMean is about what the whole table or index was asked for while the key
// was seen: what its partitions carry already.
func (f *Finding) tableMean(k Kind) float64 {
	if k == HotKeyRead {
		return ratio(f.Mean.RCU.Value, f.Share)
	}
	return ratio(f.Mean.WCU.Value, f.Share)
}

func strongAdvice(f *Finding) string {
	if f.Evidence == nil || f.Evidence.StrongReads < 0.05 {
		return ""
	}
	saved := f.Evidence.StrongReads * f.Peak.RCU.Value / 2
	return fmt.Sprintf("%.0f %% of the read units are strongly consistent or transactional: read eventually consistently where a moment's delay does no harm, which spares at least %s of %s RCU in the peak's second.",
		100*f.Evidence.StrongReads, about(saved), about(f.Peak.RCU.Value))
}

func verticalAdvice(f *Finding) string {
	if f.Kind == HotKeyRead || !isLargeItem(f.Evidence) {
		return ""
	}
	e := f.Evidence
	text := fmt.Sprintf("Items are of %s KB, of which a write changes %.1f %%: put what changes into an item of its own (vertical partitioning). A write of it costs 1 unit instead of %.0f.",
		about(e.ItemBytes/1024), 100**e.ChangedShare, math.Ceil(e.ItemBytes/1024))
	if len(e.Attributes) > 0 {
		text += fmt.Sprintf(" The attribute that changes most often is %s.", quoted(e.Attributes[0].Text))
	}
	return text
}

// isLargeItem says whether writes pay mostly for bytes that stay as they are.
func isLargeItem(e *Evidence) bool {
	return e != nil && e.Records >= fewest && e.ChangedShare != nil && e.ItemBytes >= LargeItemBytes && *e.ChangedShare <= LittleChange
}

// shardAdvice words the shard count with its arithmetic, what it costs and how
// to get there; or why shards would not help.
func (b *Board) shardAdvice(f *Finding, peak figure, r rules) []Step {
	sum := fmt.Sprintf("ceil(%s / %s × %g) = %d", amountOf(peak.value), amountOf(limit(r.kind)), r.Headroom, f.Shards)
	switch {
	case f.Reason == HotItem && r.kind == HotKeyRead:
		return []Step{{ActionCopies, fmt.Sprintf("Sharding will not help, because one item has the load: shards divide items. Where a cache does not do, keep %d copies of the item under keys of their own (%s), and read one at random.", f.Shards, sum)}}
	case f.Reason == HotItem:
		return []Step{{ActionSplit, fmt.Sprintf("Sharding will not help as the item is, because shards divide items and this is one. If its value can be divided (a counter, a set, a list), make it %d items (%s), write one of them at random, and put them together on reading; else write it less often: gather changes for a second.", f.Shards, sum)}}
	case f.Shards == 1:
		return []Step{{ActionShard, fmt.Sprintf("One shard still carries it: %s. Watch its growth.", sum)}}
	}
	load := peak.value / sample.Milli(f.Shards)
	names, base := shardNames(f.Key, f.Shards, r.Policy)
	text := fmt.Sprintf("Spread the key over %d shards: %s, about %s a second each", f.Shards, sum, perSecond(load, r.kind))
	if names != "" {
		text += ", named " + names
	}
	text += ". " + suffixKind(f) + " " + fanOut(f)
	if chance := b.crowded(f.Shards, load, r.kind); chance != "" {
		text += " " + chance
	}
	text += " A later change of the number is a change of the application."
	return []Step{{ActionShard, text}, {ActionMigrate, migration(f, base)}}
}

// shardNames are the first and last names of the shards, in the form that the
// key has already, or the policy's, and the base that they share.
func shardNames(key string, n int, p Policy) (names, base string) {
	form, base := shardkey.HashShardUnderscore(), key
	if parsed, is := shardkey.Parse(key); is && (parsed.Form.Before != "" && len(parsed.Form.Before) > 1) && parsed.Tail == "" {
		form, base = parsed.Form, parsed.Base
	}
	if p.Suffix != nil {
		form = *p.Suffix
		if b, _, is := form.Parse(key); is && b != "" {
			base = b
		}
	}
	s, err := shardkey.New(n, form)
	if err != nil {
		return "", base
	}
	first, err := s.Name(base, 0)
	if err != nil {
		return "", base
	}
	last, _ := s.Name(base, n-1)
	return fmt.Sprintf("%s to %s", quoted(first), quoted(last)), base
}

// suffixKind says how an item finds its shard: by what reads it.
func suffixKind(f *Finding) string {
	single := 0.0
	if f.Evidence != nil {
		for _, o := range f.Evidence.Operations {
			if slices.Contains([]string{"GetItem", "BatchGetItem", "TransactGetItems", "UpdateItem", "DeleteItem"}, o.Op) {
				single += o.Share
			}
		}
	}
	if single >= 0.05 {
		return fmt.Sprintf("Calculate the suffix from an attribute that is known when an item is read or changed (%.0f %% of the load names single items), such as a hash of the sort key; a random suffix could not be found again.", 100*single)
	}
	return "A random suffix does where only the whole key is read; where single items are read back, calculate it from an attribute that is known then."
}

// fanOut is what reading all shards costs.
func fanOut(f *Finding) string {
	text := fmt.Sprintf("Reading the whole key then takes %d queries of at least %g RCU each", f.Shards, QueryLeast)
	if q := f.Evidence.requests(sample.Query.String()); q > 0 {
		text += fmt.Sprintf(": at the %s queries a second seen, up to %s × %d × %g = %s RCU a second more",
			about(q), about(q), f.Shards-1, QueryLeast, about(q*float64(f.Shards-1)*QueryLeast))
	}
	return text + "."
}

// requests are those of one operation, a second.
func (e *Evidence) requests(op string) float64 {
	if e == nil {
		return 0
	}
	for _, o := range e.Operations {
		if o.Op == op {
			return o.Requests
		}
	}
	return 0
}

// placementSeed is that of every placement in advice.
const placementSeed = 1

// crowded says how likely several shards are to share a partition, so many that
// it is full.
func (b *Board) crowded(shards int, load sample.Milli, k Kind) string {
	few := int(limit(k)/max(load, 1)) + 1
	if few > shards || shards > 1000 {
		return ""
	}
	id := placed{shards, few}
	chance, known := b.placements[id]
	if !known {
		if len(b.placements) > 1000 {
			clear(b.placements)
		}
		p := Place(shards, 2*shards, units(load)*float64(shards), placementSeed)
		chance = p.Chance(few)
		b.placements[id] = chance
	}
	return fmt.Sprintf("%d names are not %d partitions: over %d equal ones the chance is %.0f %% that %d or more share one, which is then full until DynamoDB splits it (simulated, seed %d).",
		shards, shards, 2*shards, 100*chance, few, placementSeed)
}

// placed is a simulated placement.
type placed struct{ shards, share int }

// migration are the steps for the key at hand.
func migration(f *Finding, base string) string {
	if base != f.Key {
		return fmt.Sprintf("The key is a shard of %s already: write to the new number of shards, read the old ones and the new ones together (N queries in parallel), and move old items only where single ones are looked up by a calculated suffix.", quoted(base))
	}
	if f.Index != "" {
		return fmt.Sprintf("To get there: (a) write an attribute with the shard's name beside the present one (%s and its shard); (b) make an index on it, and add it to old items; (c) read its %d shards in parallel instead of the old index; (d) delete the old index.", quoted(base), f.Shards)
	}
	steps := []string{
		fmt.Sprintf("(a) write new items of %s to its shards and, for now, to the old key, too", quoted(base)),
		"(b) copy the old key's items to their shards, slowly, and compare",
		fmt.Sprintf("(c) read the %d shards in parallel instead of the old key", f.Shards),
		"(d) stop writing the old key, and delete its items when nothing reads them",
	}
	return "To get there: " + strings.Join(steps, "; ") + "."
}

// strainAdvice says what to do about a table as a whole.
func strainAdvice(f *Finding, e *episode) []Step {
	var steps []Step
	if text := retryAdvice(f); text != "" {
		steps = append(steps, Step{ActionRetry, strings.Replace(text, "requests on the key", "requests", 1)})
	}
	switch {
	case f.Kind == TableStarvation:
		return append(steps, Step{ActionCapacity, starvationAdvice(e)})
	case f.Reason == Scanned:
		return append(steps, Step{ActionScan, "Slow the Scan down (a rate limit, a smaller Limit, fewer segments), run it from an export to S3, or give it an index of its own: a Scan's every page is of one partition."})
	}
	return append(steps,
		Step{ActionCapacity, "Raising the table's capacity will not help at once: the partition is full, not the table."},
		Step{ActionWait, "Wait some minutes: DynamoDB can split the partition between its keys, if the load lasts. If it returns again and again, pre-warm, or shard the warmest keys before they are hot."})
}

func starvationAdvice(e *episode) string {
	s := &e.strain
	switch {
	case s.refused[sample.AccountLimit] > s.refused[sample.Provisioned]+s.refused[sample.MaxOnDemand]:
		return "Ask AWS to raise the account's limit in this Region, or move load to another one: no key or table setting helps."
	case s.refused[sample.MaxOnDemand] > s.refused[sample.Provisioned]:
		return "Raise or remove the maximum throughput that the owner set on the on-demand table or index."
	}
	return fmt.Sprintf("Raise the provisioned capacity above the peak of %s write and %s read units a second, let it scale by itself with a lower target, or change to on-demand. Shards would not help: no key is near a limit of its own.",
		amountOf(e.write.value), amountOf(e.read.value))
}
