package say

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

// clock and moment are how facts write a time.
const (
	clock  = "15:04:05"
	moment = "2006-01-02 15:04:05 UTC"
)

// Figures returns a finding's load as facts.
func Figures(f *detect.Finding) []Line {
	var all lines
	peak, mean, other, unit, otherUnit := f.Peak.WCU, f.Mean.WCU, f.Peak.RCU, "WCU/s", "RCU/s"
	if f.InReads() {
		peak, mean, other, unit, otherUnit = f.Peak.RCU, f.Mean.RCU, f.Peak.WCU, "RCU/s", "WCU/s"
	}
	if f.OnlyMean() {
		all.add("peak", fmt.Sprintf("%s to %s %s, in an unknown second", wording.AtLeast(peak.Low), wording.AtMost(peak.High), unit))
	} else if peak.Value > 0 {
		all.add("peak", fmt.Sprintf("%s %s%s%s", wording.Figure(peak), unit, ofMember(f), peakTime(f)))
	}
	if mean.Value > 0 {
		text := fmt.Sprintf("%s %s%s over %s", wording.Figure(mean), unit, ofMember(f), wording.Seconds(int(f.Seconds)))
		if !f.Through.IsZero() && f.Subject.OfKey() {
			text += " up to " + f.Through.UTC().Format(clock)
		}
		all.add("mean", text)
	}
	switch {
	case f.Subject.OfTable() || f.Utilization == 0:
	case f.Sharding != nil && !f.Subject.OfKey():
		all.add("of limit", fmt.Sprintf("the fullest of %d key shards has %s of a partition's limit", f.Sharding.Shards, wording.Percent(f.Utilization)))
	case f.OnlyMean():
		all.add("of limit", fmt.Sprintf("at least %s of %s %s", wording.PercentAtLeast(peak.Low/detect.Units(f.Limit())), limit(f), unit))
	default:
		all.add("of limit", fmt.Sprintf("%s of %s %s", wording.Percent(f.Utilization), limit(f), unit))
	}
	if other.Value >= 1 {
		all.add("also", fmt.Sprintf("up to %s %s", wording.Figure(other), otherUnit))
	}
	all.add("over", wording.Over(f))
	if !f.Subject.OfTable() && f.Share > 0 {
		whose := map[detect.Case]string{casebook.FewValues: ", on the hottest value", casebook.MovingSpot: ", on the hottest key"}[f.Case]
		all.add("share", fmt.Sprintf("%s of the %s of %s%s", wording.Percent(f.Share), requests(f), wording.Printable(f.Name()), whose+shareTime(f)))
	}
	if t := f.Throttling; t != nil && t.Share > 0 {
		share := wording.Percent(t.Share)
		if t.ShareLow < t.ShareHigh {
			share = wording.PartWithin(t.Share, t.ShareLow, t.ShareHigh)
		}
		all.add("throttled", fmt.Sprintf("%s of %s, %s units, %s to %s", share, ownRequests(f), wording.About(t.Units), t.From.UTC().Format(clock), t.To.UTC().Format(moment)))
	}
	if share, failed := f.FailedShare(); failed {
		how := "after all retries"
		if f.FailsAtOnce() {
			how = "at the first attempt"
		}
		all.add("failed", fmt.Sprintf("%s of the requests in the last %s, %s", wording.Percent(share), wording.Seconds(f.Evidence.Retries.Seconds), how))
	}
	return all
}

// shareTime is the time of a key's share; empty if it is unknown.
func shareTime(f *detect.Finding) string {
	if f.FirstSeen.IsZero() || f.Through.IsZero() {
		return ""
	}
	return fmt.Sprintf(", %s to %s", f.FirstSeen.UTC().Format(clock), f.Through.UTC().Format(moment))
}

// ofMember names the part of a finding that its load is about; empty for all of it.
func ofMember(f *detect.Finding) string {
	switch {
	case f.Case == casebook.FewValues:
		return " on the hottest value"
	case f.IsPattern():
		return " on the hottest key"
	case f.Sharding != nil && !f.Subject.OfKey():
		return fmt.Sprintf(" on %d key shards together", f.Sharding.Shards)
	case f.Subject.OfTable():
		return " on all keys"
	}
	return ""
}

// peakTime is the highest second, or how the peak was made where samples do not show it.
func peakTime(f *detect.Finding) string {
	switch {
	case f.Quality.InBatches():
		return ", a mean between batches"
	case f.Peak.At.IsZero():
		return ""
	}
	return " at " + f.Peak.At.UTC().Format(moment)
}

// Bounds describes how exact a finding's peak is. Most is the highest second by the times of its
// samples: above the peak where many of them have one time. t is the finding's table or index.
func Bounds(f *detect.Finding, t detect.Table, most float64) string {
	peak, unit := detect.SideOf(f, f.Peak.WCU, f.Peak.RCU), detect.SideOf(f, "wcu", "rcu")
	q := &f.Quality
	_, resends := f.Resends()
	switch {
	case q.Sampling == detect.SamplingUnknowable:
		return "an estimate; it proves no load above the limit"
	case q.IsSampled():
		return "hold with 95% confidence, the severity with 99.9999%"
	case q.Estimated != nil && *q.Estimated && peak.Low == peak.High:
		return "an estimate, because some units are computed"
	case resends:
		return fmt.Sprintf("%s to %s %s/s; batches may have sent the difference again", wording.AtLeast(peak.Low), wording.AtMost(peak.High), strings.ToUpper(unit))
	case peak.Low != peak.High:
		return fmt.Sprintf("%s to %s %s/s; other keys may have the difference", wording.AtLeast(peak.Low), wording.AtMost(peak.High), strings.ToUpper(unit))
	case q.InBatches():
		return "a mean, because times do not prove the second of a sample"
	case slices.Contains(q.CannotSee, detect.BlindThrottled):
		return "a lower bound: refused requests are not seen"
	case f.Replication != nil && f.Replication.WCU > 0:
		return "a lower bound, as far as other Regions are sampled"
	case most >= peak.High+1:
		return fmt.Sprintf("a mean between batches; %s have times in one second", perSecond(most, unit))
	}
	if t.IsSampled() {
		return "an estimate: each sample counts for the requests that it stands for"
	}
	return "exact, if every request was sampled"
}

// Proof describes the load from which samples prove a finding's table or index over a limit, and
// the load that an unlisted key may have.
func Proof(f *detect.Finding, t detect.Table) (all []Line) {
	if units := detect.SideOf(f, t.Provable.WCU, t.Provable.RCU); f.Quality.IsSampled() && units > 0 {
		all = append(all, Line{"provable", fmt.Sprintf("one second from %s units on; a lower load by its mean over %d or %d seconds", wording.About(units), detect.MeanShort, detect.MeanLongest)})
	}
	if u := t.Unseen; u.WCU > 0 || u.RCU > 0 {
		all = append(all, Line{"unlisted", fmt.Sprintf("any other key had at most %s WCU and %s RCU in a second", wording.AtMost(u.WCU), wording.AtMost(u.RCU))})
	}
	return all
}

// Requests returns facts about a finding's requests.
func Requests(f *detect.Finding) []Line {
	var all lines
	e := f.Evidence
	if e == nil || e.Records == 0 {
		return nil
	}
	from := wording.Hottest(e.Seconds)
	if f.Quality.InBatches() {
		from = "the largest batches"
	}
	switch {
	case f.Subject.OfTable(): // all seconds in which it throttled
		all.add("looked at", fmt.Sprintf("%s requests in %s", wording.Count(e.Records), wording.Seconds(e.Seconds)))
	case f.Case == casebook.MovingSpot: // whose evidence stands for all of them
		all.add("looked at", fmt.Sprintf("%s requests of the hottest key, from %s", wording.Count(e.Records), from))
	default:
		word := "requests"
		if f.Quality.IsSampled() {
			word = "sampled requests"
		}
		all.add("looked at", fmt.Sprintf("%s %s, drawn evenly from %s", wording.Count(e.Records), word, from))
	}
	var ops []string
	for _, o := range e.Operations {
		ops = append(ops, o.Op+" "+wording.Part(o.Share))
	}
	all.add("operations", strings.Join(ops, ", "))
	if s := e.SortKeys; s != nil {
		text := "at least " + wording.About(s.Distinct)
		if e.Split != nil && e.Split.Direction != "" {
			text += ", " + e.Split.Direction
		}
		all.add("sort keys", text)
	}
	all.add("items", wording.Shares("", e.Items))
	who := wording.Shares("caller", e.Callers)
	if who != "" && f.OwnShare() < 1 {
		who += ", of this Region's own requests"
	}
	all.add("callers", who)
	all.add("attempts", attempts(e.Retries))
	if e.ItemBytes > 0 {
		all.add("size", wording.Size(e.ItemBytes)+" on average, of an item or a query's reading")
	}
	if e.ChangedShare != nil {
		all.add("changes", fmt.Sprintf("a write changes %.1f%% of an item's bytes", 100**e.ChangedShare))
		all.add("attributes", wording.Shares("", e.Attributes))
	}
	for _, cause := range []sample.ThrottleReason{sample.KeyRange, sample.Provisioned, sample.MaxOnDemand, sample.AccountLimit, sample.ThrottleUnknown} {
		if n := e.Refused[cause.String()]; n > 0 {
			all.add("throttled", fmt.Sprintf("%s attempts in %s, reason %s", attemptsOf(f, n, e.Seconds), wording.Hottest(e.Seconds), cause))
		}
	}
	return all
}

// attempts describes how often requests were sent, and by whom again.
func attempts(r *detect.Retries) string {
	if r == nil {
		return ""
	}
	// The first calls of a second are not counted, before the key has a tenth of a limit.
	amount := "at least "
	if r.Estimated && !r.Partial {
		amount = "about "
	}
	text := fmt.Sprintf("%s%s for %s requests in %s, %.1f each", amount, wording.About(r.Attempts), wording.About(r.Calls), wording.Seconds(r.Seconds), r.Amplification)
	for _, c := range r.Callers[:min(3, len(r.Callers))] {
		if c.Retries() >= 1 || c.Failed >= 1 {
			text += fmt.Sprintf("; %s: %s, %.1f each, %s failed", quote(c.Caller), wording.Percent(c.Share), c.Amplification, wording.About(c.Failed))
		}
	}
	return text
}

// NotInSamples describes a key or table without a sample.
func NotInSamples(key sample.Text) string {
	return quote(key) + " is not in the samples, or its load was too low to be kept."
}

// notClose is the share of a partition's limit up to which a load is not close to it.
const notClose = 0.5

// NoFinding explains why a key has no finding. Highest is its highest second as a share of a
// partition's limit: with few samples a key may look hot without being so.
func NoFinding(key string, highest float64, t *detect.Table, p detect.Policy) string {
	switch {
	case p.Excludes(key):
		return "No finding: the policy excludes the key."
	case t.Resolution > 1:
		return "No finding: on average the load is not close to a partition's limit, and no single second can be judged."
	case highest > p.Warning:
		return "No finding: the load may be close to a partition's limit, but nothing proves it."
	case highest > notClose:
		return fmt.Sprintf("No finding: its highest second has up to %s of a partition's limit; a warning starts above %s.", wording.Percent(highest), wording.Percent(p.Warning))
	}
	return "No finding: the load is not close to a partition's limit."
}

// Concern names a finding about many keys that concerns a key without a finding of its own.
func Concern(f *detect.Finding) string {
	name := wording.Printable(f.Name())
	if f.Sharding != nil && !f.Subject.OfKey() {
		name = wording.Printable(f.Sharding.Base)
	}
	if f.Subject == detect.SubjectPartition {
		return "Its requests may be refused: see --explain " + name + "."
	}
	return fmt.Sprintf("See --explain %s for a finding (%s) about it: %s.", name, f.Severity, symptom(f))
}

// CalmLoad returns the highest seconds of a key without a finding.
func CalmLoad(write, read sample.Milli, sampled bool) (all []Line) {
	estimate := ""
	if sampled {
		estimate = ", estimated from samples"
	}
	for _, l := range []struct {
		name, unit  string
		load, limit sample.Milli
	}{{"writes", "wcu", write, detect.PartitionWrite}, {"reads", "rcu", read, detect.PartitionRead}} {
		if l.load > 0 {
			all = append(all, Line{l.name, fmt.Sprintf("up to %s; one partition takes %s%s", perSecond(detect.Units(l.load), l.unit), wording.Amount(l.limit), estimate)})
		}
	}
	return all
}

// CalmMean returns the mean load of a key over the seconds of its table.
func CalmMean(write, read detect.Figure, seconds int64) []Line {
	var means []string
	for _, l := range []struct {
		mean detect.Figure
		unit string
	}{{write, "WCU/s"}, {read, "RCU/s"}} {
		if l.mean.Value > 0 {
			means = append(means, wording.Figure(l.mean)+" "+l.unit)
		}
	}
	if len(means) == 0 {
		return nil
	}
	return []Line{{"mean", wording.List(means) + " over " + wording.Seconds(int(seconds)) + " with samples of the table"}}
}

// ChartNote explains a chart of a finding's load in the terminal.
func ChartNote(f *detect.Finding, each int) string {
	text := fmt.Sprintf("highest second of each %s; ┄ limit", wording.Seconds(each))
	if each == 1 {
		text = "each second; ┄ limit"
	}
	switch {
	case f.Quality.Source == detect.SourceMinutes:
		return "mean of each " + wording.Seconds(f.Quality.Resolution) + "; ┄ limit"
	case f.Replication != nil && f.Replication.WCU > 0:
		text += "; this Region's writes only"
	case f.Quality.InBatches():
		text += "; by the times of batches"
	case f.Quality.IsSampled():
		text += "; estimated from samples"
	}
	return text
}
