package relate

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

// HotPartition returns why partitions without a hot key throttle in a number of seconds, and
// the ground. Several keys share a partition only if several are seen to be throttled, or
// the table's map places them there. walked reports that load walked through the key space.
func HotPartition(f *detect.Finding, s *throttling.Pressure, spread *throttling.Spread, over int, walked bool) detect.Ground {
	ground := blindness(f)
	if s.Refused[sample.KeyRange] == 0 && f.Partition == nil {
		return cmp.Or(ground, detect.GroundIndex)
	}
	if s.TakenByScans() {
		return detect.GroundScan
	}
	if walked {
		return detect.GroundPositions
	}
	_, several := spread.ThrottledKeysLoad(s, over)
	several = several || f.Partition != nil
	if (several || manyRefused(f)) && f.Ramp != nil {
		if f.Ramp.Serves == detect.RampFactor*f.Ramp.Previous {
			return detect.GroundPreviousPeak
		}
		return detect.GroundWarm
	}
	if several || manyRefused(f) {
		return detect.GroundKeys
	}
	return cmp.Or(ground, detect.GroundNotSeen)
}

// manyRefused reports whether several keys are seen to be refused.
func manyRefused(f *detect.Finding) bool {
	return len(f.RefusedKeys) > 1 && f.RefusedKeys[0].Share < detect.WholeShare
}

// Ramp returns the growth of an on-demand table or index beyond what it serves at once: its
// warm throughput if that is known, and otherwise twice its previous peak, at least the
// initial capacity. It is nil for any other load. known reports whether the load before was
// seen for long enough.
func Ramp(index string, requested, before sketch.Load, known bool, facts *detect.TableFacts) *detect.Ramp {
	if facts == nil || facts.Billing != detect.BillingOnDemand {
		return nil
	}
	warmWrite, warmRead := facts.WarmThroughput(index)
	for _, side := range []struct {
		unit              string
		requested, before float64
		warm, initial     float64
	}{
		{"wcu", detect.Units(requested.Write), detect.Units(before.Write), warmWrite, detect.OnDemandWrite},
		{"rcu", detect.Units(requested.Read), detect.Units(before.Read), warmRead, detect.OnDemandRead},
	} {
		serves := side.warm
		if serves == 0 && known {
			serves = max(side.initial, detect.RampFactor*side.before)
		}
		if serves > 0 && side.requested > serves {
			return &detect.Ramp{Unit: side.unit, Requested: side.requested, Previous: side.before, Serves: serves}
		}
	}
	return nil
}

// ForTable returns the steps for a table or index as a whole.
func ForTable(f *detect.Finding, s *throttling.Pressure, peak sketch.Load, facts *detect.TableFacts, p detect.Policy) []detect.Step {
	retry := fixes.Retries(f)
	switch {
	case f.Ground == detect.GroundScan && f.Subject == detect.SubjectTable:
		return append([]detect.Step{slowScan(f, s, facts), detect.NewStep(starvedFix(s))}, retry...)
	case f.Ground == detect.GroundScan:
		return append([]detect.Step{slowScan(f, s, facts)}, retry...)
	case f.Ground == detect.GroundNoReason:
		return append([]detect.Step{detect.NewStep(detect.FixSendReason)}, retry...)
	case f.Subject == detect.SubjectTable:
		step := detect.NewStep(starvedFix(s))
		if step.Fix == detect.FixProvisionedCapacity {
			step.Need = capacityNeed(f, peak, facts)
		}
		return append([]detect.Step{step}, retry...)
	case s.Refused[sample.KeyRange] == 0 && f.Partition == nil:
		return append([]detect.Step{detect.NewStep(detect.FixFindIndexKey)}, retry...)
	case f.Ground == detect.GroundPositions:
		return append([]detect.Step{detect.NewStep(detect.FixShuffleInput)}, retry...)
	case f.Ground.IsRamp():
		step, slower := detect.NewStep(detect.FixPrewarmForRamp), detect.NewStep(detect.FixSlowRamp)
		step.Arguments.Units, slower.Arguments.Units = f.Ramp.Requested*detect.DefaultHeadroom, detect.RampFactor*f.Ramp.Previous
		side := detect.KeyWrites
		if f.Ramp.Unit == "rcu" {
			side = detect.KeyReads
		}
		step.Cost = detect.Prewarm(side, step.Arguments.Units, f.Index, facts, p)
		return append([]detect.Step{step, slower}, retry...)
	}
	return append([]detect.Step{stepForWarmKeys(f, peak, facts, p)}, retry...)
}

// capacityNeed returns the capacity that a table or index lacks, of writes or of reads; nil if
// none is known to be stated.
func capacityNeed(f *detect.Finding, peak sketch.Load, facts *detect.TableFacts) *detect.Need {
	wcu, rcu := facts.Capacity(f.Index)
	write, read := detect.Units(peak.Write), detect.Units(peak.Read)
	n := &detect.Need{Unit: "wcu", Now: write, Low: write, High: write, Provisioned: wcu}
	if f.Throttling != nil && f.InReads() || f.Throttling == nil && read*wcu > write*rcu {
		n = &detect.Need{Unit: "rcu", Now: read, Low: read, High: read, Provisioned: rcu}
	}
	if n.Provisioned == 0 {
		return nil
	}
	return n
}

// slowScan returns the step for a Scan: its busiest caller, from its present rate to the
// rate that keeps all reads below the share of the capacity that warns. Where the capacity
// is unknown, the served load stands for it.
func slowScan(f *detect.Finding, s *throttling.Pressure, facts *detect.TableFacts) detect.Step {
	step := detect.NewStep(detect.FixSlowScan)
	step.Arguments.Share = s.ScanShare()
	if f.Evidence == nil || len(f.Evidence.Callers) == 0 || len(s.Scanners.Entries) == 0 {
		return step
	}
	seconds := float64(f.Evidence.Seconds)
	busiest := slices.MaxFunc(s.Scanners.Entries, func(x, y sketch.Entry) int { return cmp.Compare(x.Weight, y.Weight) })
	asked, serves := detect.Units(s.Load.Read)/seconds, detect.Units(s.Load.Read-s.Throttled.Read)/seconds
	if _, rcu := facts.Capacity(f.Index); rcu > 0 {
		serves = rcu
	}
	from := detect.Units(sample.Milli(busiest.Weight)) / seconds
	step.Arguments.Caller, step.Arguments.From = sample.Text(busiest.Text), from
	if to := detect.DefaultWarning*serves - (asked - from); to > 0 && to < from {
		step.Arguments.Units = to
	}
	return step
}

// stepForWarmKeys returns the step for keys that are too much for their partition only
// together.
func stepForWarmKeys(f *detect.Finding, peak sketch.Load, facts *detect.TableFacts, p detect.Policy) detect.Step {
	write, read := detect.Units(peak.Write), detect.Units(peak.Read)
	provisioned := facts != nil && facts.Billing == detect.BillingProvisioned
	switch {
	case !provisioned && (write > detect.OnDemandWrite || read > detect.OnDemandRead):
		side, asked := detect.KeyWrites, write
		if write <= detect.OnDemandWrite {
			side, asked = detect.KeyReads, read
		}
		step := detect.NewStep(detect.FixPrewarmNewTable)
		step.Arguments.Units = asked * detect.DefaultHeadroom
		step.Arguments.Count = int(math.Ceil(step.Arguments.Units / detect.Units(detect.Limit(side))))
		step.Cost = detect.Prewarm(side, step.Arguments.Units, f.Index, facts, p)
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
	case s.Unexplained > 0 && s.StarvedRequests() == 0 && s.Demand <= 1:
		return detect.FixSendReason
	}
	return detect.FixProvisionedCapacity
}
