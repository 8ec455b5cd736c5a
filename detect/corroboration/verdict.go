package corroboration

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// Assess compares a finding, about a key or about a table or index as a whole, with
// CloudWatch.
func Assess(f *detect.Finding, r *Reading) detect.CloudWatch {
	s := sideOf(f)
	covered := CoverageOf(r)
	c := detect.CloudWatch{Verdict: detect.CloudWatchNotAssessed, Coverage: detect.SideOf(f, covered.Write, covered.Read)}
	if !r.Through.IsZero() {
		c.Through = new(r.Through)
	}
	minutes := r.minutesBetween(f.FirstSeen, f.LastSeen)
	consumed, known := sum(minutes, s.consumed)
	switch {
	case known:
		c.Throttles = throttles(minutes, s)
		c.Verdict = judge(f, s, c.Throttles, consumed)
	case r.State != Read && r.State != "":
		c.Unread = r.unread()
	case !r.Through.After(f.FirstSeen):
		c.Unread = detect.UnreadNotYet
	default:
		c.Unread = detect.UnreadNoData // neither zero nor health: the table may be another Region's or account's
	}
	return c
}

// Judge compares a table or index as a whole with CloudWatch.
func Judge(r *Reading) detect.TableCloudWatch {
	c := CoverageOf(r)
	t := detect.TableCloudWatch{Write: c.Write, Read: c.Read}
	if !r.Through.IsZero() {
		t.Through = new(r.Through)
	}
	switch {
	case r.State != Read:
		t.Unread, t.Message = r.unread(), r.Message
	case c.Write == nil && c.Read == nil:
		t.Unread = detect.UnreadTooFew
	}
	return t
}

func (r *Reading) unread() detect.Unread { return cmp.Or(detect.Unread(r.State), detect.UnreadFailed) }

func throttles(minutes []Minute, s side) map[detect.Metric]float64 {
	all := map[detect.Metric]float64{}
	metrics := []detect.Metric{s.throttled, s.keyRange}
	for _, o := range s.others {
		metrics = append(metrics, o.metric)
	}
	for _, m := range metrics {
		if n, known := sum(minutes, m); known {
			all[m] = n
		}
	}
	return all
}

// judge compares a finding with the throttle events, and with the table's whole
// consumption, in its minutes.
func judge(f *detect.Finding, s side, throttled map[detect.Metric]float64, consumed float64) detect.Corroborated {
	switch {
	case throttled[s.keyRange] > 0:
		return detect.CloudWatchConfirms
	case throttled[s.throttled] > 0, slices.ContainsFunc(s.others, func(o otherReason) bool { return throttled[o.metric] > 0 }):
		return detect.CloudWatchOtherCause
	case f.Subject.OfKey() && keyConsumption(f, s) > consumed*Whole:
		return detect.CloudWatchContradicts
	}
	return detect.CloudWatchQuiet
}

// keyConsumption returns the least consumption of a key in its episode, in units.
func keyConsumption(f *detect.Finding, s side) float64 {
	return s.sampled(Units{Write: f.Mean.WCU.Low, Read: f.Mean.RCU.Low}) * float64(f.Seconds)
}
