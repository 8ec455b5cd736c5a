package diagnosis

import (
	"cmp"
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/detect/internal/throttling"
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
	if s.TakenByScans() {
		return detect.Scanned, detect.GroundScan
	}
	_, several := spread.ThrottledKeysLoad(s, over)
	full := s.Load.Write > sample.Milli(over)*detect.PartitionWrite || s.Load.Read > sample.Milli(over)*detect.PartitionRead
	if several || !known || warm > 1 || warm == 0 && full {
		return detect.Splittable, detect.GroundKeys
	}
	return detect.Undetermined, cmp.Or(ground, detect.GroundNotSeen)
}

// ForTable returns the steps for a table or index as a whole.
func ForTable(f *detect.Finding, s *throttling.Pressure, peak sketch.Load, facts *detect.TableFacts) []detect.Step {
	retry := fixes.Retries(f)
	switch {
	case f.Ground == detect.GroundScan && f.Kind == detect.TableStarvation:
		return append([]detect.Step{slowScan(f, s, facts), detect.NewStep(starvedFix(s))}, retry...)
	case f.Ground == detect.GroundScan:
		return append([]detect.Step{slowScan(f, s, facts)}, retry...)
	case f.Kind == detect.TableStarvation:
		return append([]detect.Step{detect.NewStep(starvedFix(s))}, retry...)
	case s.Refused[sample.KeyRange] == 0:
		return append([]detect.Step{detect.NewStep(detect.FixFindIndexKey)}, retry...)
	}
	return append([]detect.Step{stepForWarmKeys(f, peak, facts)}, retry...)
}

// slowScan returns the step for a Scan: its busiest caller, from its present rate to the
// rate that leaves room for all other reads.
func slowScan(f *detect.Finding, s *throttling.Pressure, facts *detect.TableFacts) detect.Step {
	step := detect.NewStep(detect.FixSlowScan)
	step.Arguments.Share = s.ScanShare()
	if f.Evidence == nil || len(f.Evidence.Callers) == 0 || len(s.Scanners.Entries) == 0 {
		return step
	}
	seconds := float64(f.Evidence.Seconds)
	busiest := slices.MaxFunc(s.Scanners.Entries, func(x, y sketch.Entry) int { return cmp.Compare(x.Weight, y.Weight) })
	excess := detect.Units(s.Throttled.Read) / seconds
	if _, rcu := facts.Capacity(f.Index); excess == 0 && rcu > 0 {
		excess = detect.Units(s.Load.Read)/seconds - rcu
	}
	step.Arguments.Caller, step.Arguments.From = detect.Text(busiest.Text), detect.Units(sample.Milli(busiest.Weight))/seconds
	if excess > 0 && excess < step.Arguments.From {
		step.Arguments.Units = step.Arguments.From - excess
	}
	return step
}

// stepForWarmKeys returns the step for keys that are too much for their partition only
// together.
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
