package diagnosis

import (
	"fmt"
	"math"

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
		return append([]detect.Step{detect.NewStep(starvedFix(s))}, retry...)
	case s.Refused[sample.KeyRange] == 0:
		return append([]detect.Step{detect.NewStep(detect.FixFindIndexKey)}, retry...)
	case f.Reason == detect.Scanned:
		return append(retry, detect.NewStep(detect.FixSlowScan))
	}
	return append([]detect.Step{stepForWarmKeys(f, peak, facts)}, retry...)
}

// stepForWarmKeys returns what to do about keys that are too much for their partition
// only together.
func stepForWarmKeys(f *detect.Finding, peak sketch.Load, facts *detect.TableFacts) detect.Step {
	write, read := detect.Units(peak.Write), detect.Units(peak.Read)
	provisioned := facts != nil && facts.Billing == detect.BillingProvisioned
	switch {
	case !provisioned && (write > detect.OnDemandWrite || read > detect.OnDemandRead):
		kind, asked := detect.HotKeyWrite, write
		if write <= detect.OnDemandWrite {
			kind, asked = detect.HotKeyRead, read
		}
		step := detect.NewStep(detect.FixPrewarmNewTable)
		step.Arguments.Units = asked * detect.DefaultHeadroom
		step.Arguments.Count = int(math.Ceil(step.Arguments.Units / detect.Units(detect.Limit(kind))))
		return step
	case f.Severity == detect.Critical:
		return detect.NewStep(detect.FixPrewarm)
	}
	return detect.NewStep(detect.FixWaitForPartitionSplit)
}

// starvedFix returns the fix for the capacity that a table lacks.
func starvedFix(s *throttling.Pressure) detect.Fix {
	switch {
	case s.Refused[sample.OfIndexCapacity] == s.StarvedRequests() && s.StarvedRequests() > 0:
		return detect.FixIndexCapacity
	case s.Refused[sample.AccountLimit] > s.Refused[sample.Provisioned]+s.Refused[sample.MaxOnDemand]:
		return detect.FixAccountQuota
	case s.Refused[sample.MaxOnDemand] > s.Refused[sample.Provisioned]:
		return detect.FixOwnMaximum
	}
	return detect.FixProvisionedCapacity
}
