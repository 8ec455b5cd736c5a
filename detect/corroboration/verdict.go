package corroboration

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
)

// Assess compares a finding, about a key or about a table or index as a whole, with
// CloudWatch.
func Assess(f *detect.Finding, r *Reading) detect.CloudWatch {
	s := sideOf(f.Kind)
	c := detect.CloudWatch{Verdict: detect.CloudWatchNotAssessed, Coverage: CoverageOf(r).Figure(f.Kind)}
	if !r.Through.IsZero() {
		c.Through = new(r.Through)
	}
	minutes := r.minutesBetween(f.FirstSeen, f.LastSeen)
	consumed, known := sum(minutes, s.consumed)
	switch {
	case known:
		c.Throttles = throttles(minutes, s)
		c.Verdict, c.Why = judge(f, s, c.Throttles, consumed)
	case r.State != Read && r.State != "":
		c.Why = "CloudWatch was not assessed: " + r.explainUnread()
	case !r.Through.After(f.FirstSeen):
		c.Why = "CloudWatch has not reported these minutes yet."
	default:
		c.Why = fmt.Sprintf("CloudWatch has no %s consumption for these minutes. That is neither zero nor health: the table may be another Region's or account's.", s.noun)
	}
	if sentence := coverageText(c.Coverage, s, f.Index); sentence != "" {
		c.Why += " " + sentence
	}
	c.Operations = peakOperations(f, r)
	if text := describeOperations(c.Operations, s.includes); text != "" {
		c.Why += " In the minute of the peak " + text + "."
	}
	return c
}

// Judge compares a table or index as a whole with CloudWatch.
func Judge(target detect.Target, r *Reading) detect.TableCloudWatch {
	c := CoverageOf(r)
	t := detect.TableCloudWatch{Write: c.Write, Read: c.Read}
	if !r.Through.IsZero() {
		t.Through = new(r.Through)
	}
	var all []string
	if r.State != Read {
		all = append(all, "CloudWatch was not assessed: "+r.explainUnread())
	}
	for _, s := range []struct {
		side
		coverage *detect.Figure
	}{{writes, c.Write}, {reads, c.Read}} {
		if sentence := coverageText(s.coverage, s.side, target.Index); sentence != "" {
			all = append(all, sentence)
		}
	}
	if len(all) == 0 {
		all = append(all, fmt.Sprintf("What part of the load the samples show is not known yet: that takes %s with load in both.", minutesText(leastMinutes)))
	}
	if unused := r.Use.unusedText(); unused != "" && target.Index != "" {
		all = append(all, unused)
	}
	operations, at := latestOperations(r)
	if text := describeOperations(operations, func(sample.Op) bool { return true }); text != "" {
		all = append(all, fmt.Sprintf("In the minute of %s UTC %s.", at.UTC().Format("15:04"), text))
	}
	t.Why = strings.Join(all, " ")
	return t
}

// explainUnread explains why there is nothing to assess.
func (r *Reading) explainUnread() string {
	switch r.State {
	case NoData:
		return "it has no data of this name: the table may be another Region's or account's, or idle."
	case Denied:
		return "reading it is denied: " + r.Message
	}
	return "it could not be read: " + r.Message
}

// throttles returns the reported throttle events of a side.
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
func judge(f *detect.Finding, s side, throttled map[detect.Metric]float64, consumed float64) (detect.Corroborated, string) {
	others, names := 0.0, []string(nil)
	for _, o := range s.others {
		if n := throttled[o.metric]; n > 0 {
			others, names = others+n, append(names, fmt.Sprintf("%s because of %s", count(n), o.name))
		}
	}
	target := noun(f.Target)
	switch keyRange, all := throttled[s.keyRange], throttled[s.throttled]; {
	case keyRange > 0:
		why := fmt.Sprintf("CloudWatch confirms it: %s %s throttle events because of a key range in the same minutes, so that a partition was full.", count(keyRange), s.noun)
		if len(names) > 0 {
			why += " Others: " + wording.List(names) + "."
		}
		return detect.CloudWatchConfirms, why
	case others > 0:
		return detect.CloudWatchOtherCause, fmt.Sprintf("CloudWatch counts no %s throttle events because of a key range in these minutes, but %s: the %s as a whole has too little.", s.noun, wording.List(names), target)
	case all > 0:
		return detect.CloudWatchOtherCause, fmt.Sprintf("CloudWatch counts %s %s throttle events in these minutes, and none of them because of a key range.", count(all), s.noun)
	}
	if key, whole := keyConsumption(f, s), consumed*whole; f.Kind.OfKey() && key > whole {
		return detect.CloudWatchContradicts, fmt.Sprintf("CloudWatch contradicts it: the samples say that the key consumed at least %s %s units in these minutes, and the whole %s consumed %s. Requests are counted twice, or the samples state a rate that is too small.",
			count(key), s.noun, target, count(consumed))
	}
	return detect.CloudWatchQuiet, fmt.Sprintf("CloudWatch counts no %s throttle events of the %s in these minutes: what the key asked for was served.", s.noun, target)
}

// keyConsumption returns the least consumption of a key in its episode, in units.
func keyConsumption(f *detect.Finding, s side) float64 {
	return s.sampled(Units{Write: f.Mean.WCU.Low, Read: f.Mean.RCU.Low}) * float64(f.Seconds)
}

// coverageText describes the part of the load that the samples show.
func coverageText(c *detect.Figure, s side, index string) string {
	if c == nil {
		return ""
	}
	owner := noun(detect.Target{Index: index}) + "'s"
	if c.Low > whole {
		return fmt.Sprintf("The samples show %s (%s) of the %s %ss: more than there are, so requests are counted twice, or the samples state a rate that is too small.", wording.Percent(c.Value), wording.PercentRange(c.Low, c.High), owner, s.noun)
	}
	between := ""
	if c.High-c.Low > precise {
		between = fmt.Sprintf(" (%s)", wording.PercentRange(c.Low, min(1, c.High)))
	}
	return fmt.Sprintf("The samples show %s%s of the %s %ss.", wording.Percent(min(1, c.Value)), between, owner, s.noun)
}

func count(n float64) string { return wording.Count(int64(n)) }
