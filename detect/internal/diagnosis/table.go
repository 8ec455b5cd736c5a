package diagnosis

import (
	"cmp"
	"math"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// HotPartition returns why partitions without a hot key throttle in a number of seconds, and
// the ground. Several keys share a partition only if several are seen to be throttled.
func HotPartition(f *detect.Finding, s *throttling.Pressure, spread *throttling.Spread, over int) (detect.Diagnosis, detect.Ground) {
	ground := blindness(f)
	if s.Refused[sample.KeyRange] == 0 {
		return detect.Undetermined, cmp.Or(ground, detect.GroundIndex)
	}
	if detect.Ratio(float64(detect.Weight(s.Scanned)), float64(detect.Weight(s.Load))) >= detect.ScanShare {
		return detect.Scanned, detect.GroundScan
	}
	_, several := spread.ThrottledKeysLoad(s, over)
	if several || len(f.RefusedKeys) > 1 && f.RefusedKeys[0].Share < detect.WholeShare {
		return detect.Splittable, detect.GroundKeys
	}
	return detect.Undetermined, cmp.Or(ground, detect.GroundNotSeen)
}

// ForTable returns the steps for a table or index as a whole.
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
