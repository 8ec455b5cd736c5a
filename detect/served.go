package detect

import (
	"slices"
	"time"
)

// MayBeServed reports whether DynamoDB may serve all reads of a key above a partition's
// limit: they are eventually consistent, none is seen to be refused, and AWS measured as
// many.
func (f *Finding) MayBeServed() bool {
	e := f.Evidence
	return f.ReadsEventually() && f.SecondsOver() > 0 && Milli(f.Peak.RCU.Value) <= EventualRead &&
		e.ThrottledRequests() == 0 && (e.Retries == nil || e.Retries.Retries() < 1) && f.Consumed.RCU >= f.Peak.RCU.Value-1 &&
		!f.Quality.InBatches() && !slices.Contains(f.Quality.CannotSee, BlindThrottled)
}

// ReadsEventually reports whether a finding is about a key's reads, hardly any of them
// strongly consistent.
func (f *Finding) ReadsEventually() bool {
	return f.InReads() && !f.Subject.OfTable() && f.Evidence != nil && f.Evidence.StrongReads < fewStrong && f.Quality.Source != SourceMinutes
}

// LoadNow is the load to bring down: the highest second, or of a sampled key what of it is
// certain, and no less than the mean. The highest of many estimates is the luckiest.
func (f *Finding) LoadNow() float64 {
	peak, mean := SideOf(f, f.Peak.WCU, f.Peak.RCU), SideOf(f, f.Mean.WCU, f.Mean.RCU)
	if f.Quality.Sampling == SamplingNone {
		return peak.Value
	}
	return min(peak.Value, max(peak.Low, mean.Value))
}

// RateTonight is the units a second to bring the load to tonight: a little less than a partition
// serves of it. DynamoDB may serve more than its limit of eventually consistent reads.
func (f *Finding) RateTonight() float64 {
	peak, limit := SideOf(f, f.Peak.WCU, f.Peak.RCU).Value, Units(f.Limit())
	if f.ReadsEventually() {
		served := f.LoadNow()
		if f.Throttling != nil {
			served = f.Mean.RCU.Value * (1 - f.Throttling.Share)
		}
		limit = max(limit, min(served, Units(EventualRead)))
	}
	if f.Sharding != nil && !f.Subject.OfKey() {
		peak = f.Utilization * limit // of the fullest key shard
	}
	return RateBelow(RoomTonight * min(peak, limit))
}

// IsServedBurst reports whether a key was hot for a few seconds only, and its callers' quick
// retries served all of its calls. Nobody suffers from it.
func (f *Finding) IsServedBurst() bool {
	e := f.Evidence
	if e == nil || e.Retries == nil || f.Throttling != nil || f.LastSeen.Sub(f.FirstSeen) >= HarmOf*time.Second {
		return false
	}
	r := e.Retries
	return !r.Partial && !r.BackOff() && r.Retries() >= 1 && r.Failed.High < 1
}

// fewStrong is the share of strongly consistent reads below which reads are eventual.
const fewStrong = 0.05
