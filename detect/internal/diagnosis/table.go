package diagnosis

import (
	"cmp"
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

// HotPartition returns why partitions without a hot key throttle, and the ground. warm is
// the number of warm keys in one of the seconds, and known reports whether that second is
// still known.
func HotPartition(f *detect.Finding, s *throttling.Pressure, spread *throttling.Spread, over, warm int, known bool) (detect.Diagnosis, detect.Ground) {
	ground := blindness(f)
	if s.Refused[sample.KeyRange] == 0 {
		return detect.Undetermined, cmp.Or(ground, detect.GroundIndex)
	}
	if detect.Ratio(float64(detect.Weight(s.Scanned)), float64(detect.Weight(s.Load))) >= detect.ScanShare {
		return detect.Scanned, detect.GroundScan
	}
	_, several := spread.ThrottledKeysLoad(s, over)
	full := s.Load.Write > sample.Milli(over)*detect.PartitionWrite || s.Load.Read > sample.Milli(over)*detect.PartitionRead
	if several || !known || warm > 1 || warm == 0 && full {
		return detect.Splittable, detect.GroundKeys
	}
	return detect.Undetermined, cmp.Or(ground, detect.GroundNotSeen)
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
