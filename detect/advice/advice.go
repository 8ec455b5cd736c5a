package advice

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
)

// Adviser writes the steps for a hot key. It keeps the placements that it simulated.
type Adviser struct{ placements map[placed]float64 }

// maxPlacements is how many placements an adviser keeps.
const maxPlacements = 1000

// New returns an adviser.
func New() *Adviser { return &Adviser{map[placed]float64{}} }

// Steps returns what to do about a hot key, in order. peak is the highest second of
// what the finding is about.
func (a *Adviser) Steps(f *detect.Finding, peak sample.Milli, p detect.Policy) []detect.Step {
	var steps []detect.Step
	add := func(action, text string) {
		if text != "" {
			steps = append(steps, detect.Step{Action: action, Text: text})
		}
	}
	add(detect.ActionCaller, callerAdvice(f))
	add(detect.ActionRetry, retryAdvice(f))
	add(detect.ActionCapacity, capacityAdvice(f, f.Kind))
	add(detect.ActionWait, waitAdvice(f))
	if f.Severity == detect.Info {
		return steps
	}
	add(detect.ActionPrewarm, prewarmAdvice(f, p.Headroom))
	if f.Kind == detect.HotKeyRead {
		add(detect.ActionRead, strongAdvice(f))
		add(detect.ActionCache, "If the reads are of few items, cache them (DAX, or in the application), or read them eventually consistently at half the price: shards help a read-hot item collection, not a read-hot item.")
	}
	add(detect.ActionVertical, verticalAdvice(f))
	if f.Kind == detect.HotGSIKey {
		add(detect.ActionIndex, "The key is one of an index: while its partition is full, DynamoDB throttles writes to the table itself, whatever their own keys. Leave items out of the index that no query wants (a sparse index), or put the shard into the index key alone: the table's keys need not change.")
	}
	if f.Rolling != nil {
		add(detect.ActionRename, fmt.Sprintf("Put something beside the time into the key, such as %s#<customer>, or shards (below) into each %s's name: then the next %s is spread, too.",
			f.Rolling.Template, f.Rolling.Period, f.Rolling.Period))
	}
	return append(steps, a.shardAdvice(f, peak, p)...)
}

func callerAdvice(f *detect.Finding) string {
	if name, test := testName(f.Key); test && byTest(f) {
		return fmt.Sprintf("The key is named like a test (%s): stop or move what writes it, before anything else.", name)
	}
	if f.Evidence == nil || len(f.Evidence.Callers) == 0 {
		return ""
	}
	if c := f.Evidence.Callers[0]; c.Low >= 0.5 {
		return fmt.Sprintf("Look at %s first: it makes %s of the key's load. A loop, a missing cache or a retry storm there is mended faster than a key design.", wording.Quote(c.Text), wording.Between(c))
	}
	return ""
}

// retryAdvice returns the step about throttled requests, each of which the client retries.
func retryAdvice(f *detect.Finding) string {
	if f.Evidence == nil {
		return ""
	}
	var throttled int64
	for _, n := range f.Evidence.Refused {
		throttled += n
	}
	if throttled == 0 {
		return ""
	}
	return fmt.Sprintf("%s requests on the key were throttled in the seconds looked at. Let clients back off exponentially, with jitter and a limit on attempts: retries at once are load on the same partition.", wording.Count(throttled))
}

// capacityAdvice returns the step about the table's own capacity, whether or not that
// is the bound.
func capacityAdvice(f *detect.Finding, k detect.Kind) string {
	if f.Evidence != nil {
		starved := int64(0)
		for _, c := range []sample.Cause{sample.Provisioned, sample.MaxOnDemand, sample.AccountLimit} {
			starved += f.Evidence.Refused[c.String()]
		}
		if starved > f.Evidence.Refused[sample.KeyRange.String()] {
			return fmt.Sprintf("Check the table's capacity first: %s of the key's requests were throttled because the table or account had too little, not because of its partition.", wording.Count(starved))
		}
	}
	text := fmt.Sprintf("Raising the table's capacity will not help: one partition key is held to %s a second whatever the table is provisioned for.", wording.PerSecond(detect.Limit(k), k))
	if f.Share >= detect.CeilingShare {
		text += fmt.Sprintf(" With %.0f%% of the load on this key the table as a whole can take %s a second, as long as the shares stay as they were while it was hot.",
			100*f.Share, wording.PerSecond(sample.Milli(float64(detect.Limit(k))/f.Share), k))
	}
	return text
}

// waitAdvice returns the step of waiting for splits, and its end.
func waitAdvice(f *detect.Finding) string {
	if f.Reason != detect.Splittable {
		return ""
	}
	hot := f.LastSeen.Sub(f.FirstSeen).Seconds() + 1
	if hot < detect.HealSeconds || f.Utilization <= 1 {
		return "Wait some minutes before changing keys: adaptive capacity can split this, if the load lasts. If it comes in bursts shorter than that, go on with the next steps."
	}
	minutes := wording.Count(int64(hot / 60))
	if f.Evidence != nil && f.Evidence.Refused[sample.KeyRange.String()] > 0 || f.SaturatedSeconds > 0 {
		return fmt.Sprintf("Do not wait any longer: the key has been hot for %s minutes, longer than splits take, and its partition still throttles. DynamoDB did not heal it, although its load could be split.", minutes)
	}
	return fmt.Sprintf("Do not wait any longer: the key has been hot for %s minutes, longer than splits take. The samples show no throttled request: either DynamoDB has split the key's items by now and serves them, or the samples do not show what it throttles, and then DynamoDB did not heal it. The table's metric WriteKeyRangeThroughputThrottleEvents, or the one of reads, tells which.", minutes)
}

// prewarmAdvice returns the warm throughput to raise to: shards are new
// keys, and their partitions are made by load or by warm throughput.
func prewarmAdvice(f *detect.Finding, headroom float64) string {
	if f.Shards < 2 || f.Reason == detect.HotItem {
		return ""
	}
	what, least, peak := "write", float64(detect.OnDemandWrite), f.Peak.WCU.Value
	if f.Kind == detect.HotKeyRead {
		what, least, peak = "read", detect.OnDemandRead, f.Peak.RCU.Value
	}
	need := peak * headroom
	if need <= least || need <= tableMean(f) {
		return ""
	}
	where := "table's"
	if f.Index != "" {
		where = "index's"
	}
	return fmt.Sprintf("Before the shards go live raise the %s warm throughput to at least %s %s units a second (%s × %g): a new on-demand table takes %s, and partitions for new keys are otherwise made only as the load grows.",
		where, wording.About(math.Ceil(need)), what, wording.About(peak), headroom, wording.About(least))
}

// tableMean returns about the demand on the whole table or index while the key was
// seen: what its partitions carry already.
func tableMean(f *detect.Finding) float64 {
	if f.Kind == detect.HotKeyRead {
		return detect.Ratio(f.Mean.RCU.Value, f.Share)
	}
	return detect.Ratio(f.Mean.WCU.Value, f.Share)
}

func strongAdvice(f *detect.Finding) string {
	if f.Evidence == nil || f.Evidence.StrongReads < 0.05 {
		return ""
	}
	saved := f.Evidence.StrongReads * f.Peak.RCU.Value / 2
	return fmt.Sprintf("%.0f%% of the read units are strongly consistent or transactional: read eventually consistently where a moment's delay does no harm, which spares at least %s of %s RCU in the peak's second.",
		100*f.Evidence.StrongReads, wording.About(saved), wording.About(f.Peak.RCU.Value))
}

func verticalAdvice(f *detect.Finding) string {
	if f.Kind == detect.HotKeyRead || !isLargeItem(f.Evidence) {
		return ""
	}
	e := f.Evidence
	text := fmt.Sprintf("Items are of %s KB, of which a write changes %.1f%%: put what changes into an item of its own (vertical partitioning). A write of it costs 1 unit instead of %.0f.",
		wording.About(e.ItemBytes/1024), 100**e.ChangedShare, math.Ceil(e.ItemBytes/1024))
	if len(e.Attributes) > 0 {
		text += fmt.Sprintf(" The attribute that changes most often is %s.", wording.Quote(e.Attributes[0].Text))
	}
	return text
}

// isLargeItem reports whether writes pay mostly for bytes that stay as they are.
func isLargeItem(e *detect.Evidence) bool {
	return e != nil && e.Records >= detect.MinRecords && e.ChangedShare != nil && e.ItemBytes >= detect.LargeItemBytes && *e.ChangedShare <= detect.LittleChangeShare
}

// shardAdvice returns the shard count with its arithmetic, what it costs and how to
// get there; or why shards would not help.
func (a *Adviser) shardAdvice(f *detect.Finding, peak sample.Milli, p detect.Policy) []detect.Step {
	sum := fmt.Sprintf("ceil(%s / %s × %g) = %d", wording.Amount(peak), wording.Amount(detect.Limit(f.Kind)), p.Headroom, f.Shards)
	switch {
	case f.Reason == detect.HotItem && f.Kind == detect.HotKeyRead:
		return []detect.Step{{Action: detect.ActionCopies, Text: fmt.Sprintf("Sharding will not help, because one item has the load: shards divide items. Where a cache does not do, keep %d copies of the item under keys of their own (%s), and read one at random.", f.Shards, sum)}}
	case f.Reason == detect.HotItem:
		return []detect.Step{{Action: detect.ActionSplit, Text: fmt.Sprintf("Sharding will not help as the item is, because shards divide items and this is one. If its value can be divided (a counter, a set, a list), make it %d items (%s), write one of them at random, and put them together on reading; else write it less often: gather changes for a second.", f.Shards, sum)}}
	case f.Shards == 1:
		return []detect.Step{{Action: detect.ActionShard, Text: fmt.Sprintf("One shard still carries it: %s. Watch its growth.", sum)}}
	}
	load := peak / sample.Milli(f.Shards)
	names, base := shardNames(f.Key, f.Shards, p)
	text := fmt.Sprintf("Spread the key over %d shards: %s, about %s a second each", f.Shards, sum, wording.PerSecond(load, f.Kind))
	if names != "" {
		text += ", named " + names
	}
	text += ". " + suffixKind(f) + " " + fanOut(f)
	if chance := a.sharedPartition(f.Shards, load, f.Kind); chance != "" {
		text += " " + chance
	}
	text += " A later change of the number is a change of the application."
	return []detect.Step{{Action: detect.ActionShard, Text: text}, {Action: detect.ActionMigrate, Text: migration(f, base)}}
}

// shardNames returns the first and last names of the shards, in the form that the
// key has already, or the policy's, and the base that they share.
func shardNames(key string, n int, p detect.Policy) (names, base string) {
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
	return fmt.Sprintf("%s to %s", wording.Quote(first), wording.Quote(last)), base
}

// suffixKind returns how an item finds its shard: by what reads it.
func suffixKind(f *detect.Finding) string {
	single := 0.0
	if f.Evidence != nil {
		for _, o := range f.Evidence.Operations {
			if slices.Contains([]string{"GetItem", "BatchGetItem", "TransactGetItems", "UpdateItem", "DeleteItem"}, o.Op) {
				single += o.Share
			}
		}
	}
	if single >= 0.05 {
		return fmt.Sprintf("Calculate the suffix from an attribute that is known when an item is read or changed (%.0f%% of the load names single items), such as a hash of the sort key; a random suffix could not be found again.", 100*single)
	}
	return "A random suffix does where only the whole key is read; where single items are read back, calculate it from an attribute that is known then."
}

// fanOut returns what reading all shards costs.
func fanOut(f *detect.Finding) string {
	text := fmt.Sprintf("Reading the whole key then takes %d queries of at least %g RCU each", f.Shards, detect.QueryMinimum)
	if q := requestsOf(f.Evidence, sample.Query.String()); q > 0 {
		text += fmt.Sprintf(": at the %s queries a second seen, up to %s × %d × %g = %s RCU a second more",
			wording.About(q), wording.About(q), f.Shards-1, detect.QueryMinimum, wording.About(q*float64(f.Shards-1)*detect.QueryMinimum))
	}
	return text + "."
}

// requestsOf returns those of one operation, a second.
func requestsOf(e *detect.Evidence, op string) float64 {
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

// sharedPartition returns how likely several shards are to share a partition, so many
// that it is full.
func (a *Adviser) sharedPartition(shards int, load sample.Milli, k detect.Kind) string {
	few := int(detect.Limit(k)/max(load, 1)) + 1
	if few > shards || shards > whatif.MaxPlaced {
		return ""
	}
	id := placed{shards, few}
	chance, known := a.placements[id]
	if !known {
		if len(a.placements) > maxPlacements {
			clear(a.placements)
		}
		p := whatif.Place(shards, 2*shards, detect.Units(load)*float64(shards), whatif.PlacementSeed)
		chance = p.Chance(few)
		a.placements[id] = chance
	}
	return fmt.Sprintf("%d names are not %d partitions: over %d equal ones the chance is %.0f%% that %d or more share one, which is then full until DynamoDB splits it (simulated, seed %d).",
		shards, shards, 2*shards, 100*chance, few, whatif.PlacementSeed)
}

// placed is a simulated placement.
type placed struct{ shards, share int }

// migration returns the steps for the key at hand.
func migration(f *detect.Finding, base string) string {
	if base != f.Key {
		return fmt.Sprintf("The key is a shard of %s already: write to the new number of shards, read the old ones and the new ones together (N queries in parallel), and move old items only where single ones are looked up by a calculated suffix.", wording.Quote(base))
	}
	if f.Index != "" {
		return fmt.Sprintf("To get there: (a) write an attribute with the shard's name beside the present one (%s and its shard); (b) make an index on it, and add it to old items; (c) read its %d shards in parallel instead of the old index; (d) delete the old index.", wording.Quote(base), f.Shards)
	}
	steps := []string{
		fmt.Sprintf("(a) write new items of %s to its shards and, for now, to the old key, too", wording.Quote(base)),
		"(b) copy the old key's items to their shards, slowly, and compare",
		fmt.Sprintf("(c) read the %d shards in parallel instead of the old key", f.Shards),
		"(d) stop writing the old key, and delete its items when nothing reads them",
	}
	return "To get there: " + strings.Join(steps, "; ") + "."
}
