package diagnosis

import (
	"fmt"
	"math"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// warmNamed is how many warm keys are named.
const warmNamed = 5

// WhyHotPartition returns why partitions without a hot key throttle, and whether that
// heals. warm are the keys that were warm in one of its seconds, the warmest first, and
// known reports whether that second is still known.
func WhyHotPartition(s *throttling.Pressure, spread *throttling.Spread, over int, warm []string, known bool) (detect.Diagnosis, string) {
	if s.Refused[sample.KeyRange] == 0 {
		return detect.Undetermined, fmt.Sprintf("DynamoDB throttled %s writes to the table in %s because a partition of one of its indexes is full: an index that falls behind holds the table's writes back, whatever their own keys.", wording.Count(s.Refused[sample.OfIndex]), wording.Seconds(over))
	}
	served, several := spread.ThrottledKeysLoad(s, over)
	partitions := "At least one partition"
	if several {
		partitions = "Several partitions"
	}
	throttled := fmt.Sprintf("%s throttled %s requests in %s, while no key was close to what one partition serves", partitions, wording.Count(s.Refused[sample.KeyRange]), wording.Seconds(over))
	if scanned := detect.Ratio(float64(detect.Weight(s.Scanned)), float64(detect.Weight(s.Load))); scanned >= detect.ScanShare {
		return detect.Scanned, fmt.Sprintf("%s: %.0f%% of the load is Scans, which read one partition after another as fast as they can, and are gone before DynamoDB splits it.", throttled, 100*scanned)
	}
	switch {
	case several:
		kind := detect.HotKeyWrite
		if detect.Units(served.Read)/detect.Units(detect.PartitionRead) > detect.Units(served.Write)/detect.Units(detect.PartitionWrite) {
			kind = detect.HotKeyRead
		}
		return detect.Splittable, fmt.Sprintf("%s: those of the throttled keys that were not even warm were served about %s%s a second together, more than one partition serves. The load is more than the partitions take, and DynamoDB can split them, after some minutes of sustained load.",
			throttled, wording.Significant(detect.Units(detect.Side(kind, served.Write, served.Read))), detect.Side(kind, " write units", " read units"))
	case !known:
		return detect.Splittable, throttled + ": where several warm keys share it, DynamoDB can split it between them, after some minutes of sustained load. Which keys these were is not known any more."
	case len(warm) == 0 && (s.Load.Write > sample.Milli(over)*detect.PartitionWrite || s.Load.Read > sample.Milli(over)*detect.PartitionRead):
		return detect.Splittable, throttled + ": many keys share it, none of which is even warm. DynamoDB can split it between them, after some minutes of sustained load."
	case len(warm) == 0:
		return detect.Undetermined, throttled + ". The samples show no key that is even warm: many keys share the partition, and DynamoDB can split it between them after some minutes of sustained load, or requests that fill it are not sampled."
	case len(warm) == 1:
		return detect.Undetermined, fmt.Sprintf("%s. The only warm key then was %s: others that are cooler share its partition, and DynamoDB can split it between them after some minutes of sustained load, or requests that fill it are not sampled.", throttled, warm[0])
	}
	return detect.Splittable, throttled + ": several warm keys share it. DynamoDB can split it between them, after some minutes of sustained load. " + warmKeys(s, warm)
}

// warmKeys names the keys that were warm, as far as they are few, and says whether others
// were throttled.
func warmKeys(s *throttling.Pressure, warm []string) string {
	text := "The warm keys then were " + wording.List(warm[:min(len(warm), warmNamed)])
	if len(warm) > warmNamed {
		text = "The warmest keys then included " + wording.List(warm[:warmNamed])
	}
	if s.ThrottlesOnlyWarmKeys() {
		text += ", and all that was throttled is of warm keys"
	}
	return text + "."
}

// WhySaturated returns how the load of a key shows that its partition is full.
func WhySaturated(f *detect.Finding) string {
	return fmt.Sprintf("In %s it levels off just at %s: a partition that serves no more looks like this, and what it throttles may not be seen.",
		wording.Plateau(f.SaturatedSeconds), wording.PerSecond(detect.Limit(f.Kind), f.Kind))
}

// WhyCombined says what reads and writes are together, where each is below its limit:
// AWS's own texts differ on what a partition makes of that.
func WhyCombined(f *detect.Finding) string {
	return fmt.Sprintf("Reads and writes are each below their limit, and their shares of it add up to %.0f%%. By the Developer Guide a partition throttles the two independently of each other, so that nothing is refused; an article of AWS re:Post says that both share its throughput. Throttling is possible, and does not page.", 100*f.Combined)
}

// WhyStarved returns what capacity a table or index lacks.
func WhyStarved(s *throttling.Pressure, over int, facts *detect.TableFacts, index string) string {
	what := "table"
	if index != "" {
		what = "index"
	}
	wcu, rcu := facts.Capacity(index)
	given := ""
	switch {
	case wcu == 0 && rcu == 0:
	case s.Demand == 0:
		given = fmt.Sprintf(" It is given %.0f WCU and %.0f RCU a second; what it was asked for cannot be proven from these samples.", wcu, rcu)
	default:
		given = fmt.Sprintf(" It is given %.0f WCU and %.0f RCU a second, and was asked for up to %.0f%% of that.", wcu, rcu, 100*s.Demand)
	}
	if s.StarvedRequests() == 0 {
		return fmt.Sprintf("The %s was asked for more than it is provisioned with, so far out of its burst capacity.%s", what, given)
	}
	if s.Refused[sample.OfIndexCapacity] == s.StarvedRequests() {
		return fmt.Sprintf("DynamoDB throttled %s writes to the table in %s because %s has too little write capacity, provisioned or as its owner set a maximum: the index holds the table's writes back.", wording.Count(s.StarvedRequests()), wording.Seconds(over), anIndex(facts))
	}
	cause := sample.Provisioned
	for _, c := range []sample.ThrottleReason{sample.MaxOnDemand, sample.AccountLimit} {
		if s.Refused[c] > s.Refused[cause] {
			cause = c
		}
	}
	return fmt.Sprintf("DynamoDB throttled %s requests in %s with %s: the %s as a whole has too little capacity.%s",
		wording.Count(s.StarvedRequests()), wording.Seconds(over), cause, what, given)
}

// anIndex names the index that a reason is of: where the table has only one, that one.
// A record of the table's key has the reason without the name of what it is of.
func anIndex(facts *detect.TableFacts) string {
	if facts != nil && len(facts.Indexes) == 1 {
		for name := range facts.Indexes {
			return "its index " + wording.Quote(name)
		}
	}
	return "one of its indexes"
}

// ForTable returns what to do about a table or index as a whole.
func ForTable(f *detect.Finding, s *throttling.Pressure, peak sketch.Load, facts *detect.TableFacts) []detect.Step {
	retry := fixes.Retries(f)
	switch {
	case f.Kind == detect.TableStarvation:
		return append([]detect.Step{{Action: detect.ActionCapacity, Effort: detect.EffortSetting, Basis: "the sum of all keys is served then, and how it lies on partitions is not known", Guide: "capacity", Text: starvationAdvice(s, peak)}}, retry...)
	case s.Refused[sample.KeyRange] == 0:
		return append([]detect.Step{{Action: detect.ActionIndex, Effort: detect.EffortItems, Basis: "a record of a table's write does not tell the key in the index; a hot_gsi_key finding does", Guide: "indexes", Text: "Look at the table's indexes: the hot key is one of an index. Give the index a key with more values, put a shard into it, or leave items out of it that no query wants (a sparse index)."}}, retry...)
	case f.Reason == detect.Scanned:
		return append(retry, detect.Step{Action: detect.ActionScan, Effort: detect.EffortCode, Basis: "which partition a Scan reads at a time is not known", Guide: "scans", Text: "Slow the Scan down (a rate limit, a smaller Limit, fewer segments), run it from an export to S3, or give it an index of its own: a Scan's every page is of one partition."})
	}
	return append(warmKeysAdvice(f, s, peak, facts), retry...)
}

// warmKeysAdvice returns what to do about keys that are too much for their partition
// only together.
func warmKeysAdvice(f *detect.Finding, s *throttling.Pressure, peak sketch.Load, facts *detect.TableFacts) []detect.Step {
	const prewarm = "If it returns, or the table is new, pre-warm (raise its warm throughput, which is charged once), or provision more: both make partitions, and spread the keys over them."
	basis := "which keys share the partition is not known"
	if s.ThrottlesOnlyWarmKeys() {
		basis = "how the warm keys that were throttled lie on partitions is not known"
	}
	step := func(action string, effort detect.Effort, guide, text string) []detect.Step {
		return []detect.Step{{Action: action, Effort: effort, Basis: basis, Guide: guide, Text: text}}
	}
	write, read := detect.Units(peak.Write), detect.Units(peak.Read)
	provisioned := facts != nil && facts.Billing == detect.BillingProvisioned
	switch {
	case !provisioned && (write > detect.OnDemandWrite || read > detect.OnDemandRead):
		kind, what, least, asked := detect.HotKeyWrite, "write", float64(detect.OnDemandWrite), write
		if write <= detect.OnDemandWrite {
			kind, what, least, asked = detect.HotKeyRead, "read", detect.OnDemandRead, read
		}
		partitions := math.Ceil(asked * detect.DefaultHeadroom / detect.Units(detect.Limit(kind)))
		warm := step(detect.ActionPrewarm, detect.EffortSetting, "capacity", fmt.Sprintf("Pre-warm now, if the table is new: raise its warm throughput to at least %s %s units a second (%s × %g). It was asked for %s, and a new on-demand table begins with %s: until it has grown its partitions throttle although no key is hot. Warm throughput is charged once for what it is raised by, and cannot be lowered.",
			wording.About(asked*detect.DefaultHeadroom), what, wording.About(asked), detect.DefaultHeadroom, wording.About(asked), wording.About(least)))
		warm[0].Basis = fmt.Sprintf("on average each of the %.0f partitions that so much needs then has %s, and more where keys that share one have more", partitions, wording.PerSecond(detect.Milli(asked/partitions), kind)+" a second")
		return warm
	case f.Severity == detect.Critical:
		return step(detect.ActionPrewarm, detect.EffortSetting, "capacity", "Pre-warm (raise the table's warm throughput, which is charged once), or provision more: both make partitions, and spread the keys over them. Do not wait any longer: the partition has throttled for longer than splits are expected to take, and DynamoDB did not heal it.")
	}
	return step(detect.ActionWait, detect.EffortNone, "waiting", "See whether it ends by itself within some minutes: DynamoDB can split the partition between its keys, if the load lasts. "+prewarm)
}

func starvationAdvice(s *throttling.Pressure, peak sketch.Load) string {
	switch {
	case s.Refused[sample.OfIndexCapacity] == s.StarvedRequests() && s.StarvedRequests() > 0:
		return "Raise the write capacity of the index that the reason names to that of the table's writes at least, let it scale with the table's, or change to on-demand. Fewer projected attributes, or a sparse index, make it write less."
	case s.Refused[sample.AccountLimit] > s.Refused[sample.Provisioned]+s.Refused[sample.MaxOnDemand]:
		return "Ask AWS to raise the account's quota in this Region, or move load to another one: no key or table setting helps."
	case s.Refused[sample.MaxOnDemand] > s.Refused[sample.Provisioned]:
		return "Raise or remove the maximum throughput that the owner set on the on-demand table or index."
	}
	var peaks []string
	if peak.Write > 0 {
		peaks = append(peaks, wording.Amount(peak.Write)+" write")
	}
	if peak.Read > 0 {
		peaks = append(peaks, wording.Amount(peak.Read)+" read")
	}
	return fmt.Sprintf("Raise the provisioned capacity above the peak of %s units a second, let it scale by itself with a lower target, or change to on-demand. It is the sum of all keys that is too much.",
		strings.Join(peaks, " and "))
}
