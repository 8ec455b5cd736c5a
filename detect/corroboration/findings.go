package corroboration

import (
	"fmt"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
)

// Findings returns the findings about a table or index that rest on CloudWatch alone: a
// partition throttles, capacity is too low, or the samples' coverage fell. They follow
// from the minutes only, so an unreachable CloudWatch changes none of them.
func Findings(target detect.Target, r *Reading) (found []detect.Finding) {
	for _, k := range []detect.Kind{detect.HotPartition, detect.TableStarvation} {
		if f, ok := throttledFinding(target, r, k); ok {
			found = append(found, f)
		}
	}
	if f, ok := coverageFell(target, r); ok {
		found = append(found, f)
	}
	return found
}

// throttleMetrics returns the throttle metrics of a kind.
func throttleMetrics(k detect.Kind) (metrics []detect.Metric) {
	for _, s := range []side{writes, reads} {
		if k == detect.HotPartition {
			metrics = append(metrics, s.keyRange)
			continue
		}
		for _, o := range s.others {
			metrics = append(metrics, o.metric)
		}
	}
	return metrics
}

// throttledFinding returns the finding about the latest episode of throttling for a
// kind's reasons.
func throttledFinding(target detect.Target, r *Reading, k detect.Kind) (f detect.Finding, ok bool) {
	metrics := throttleMetrics(k)
	var harmed []Minute // the last episode
	for _, m := range r.Minutes {
		if n := events(m, metrics); n == 0 {
			continue
		}
		if len(harmed) > 0 && m.At.Sub(harmed[len(harmed)-1].At) > quietMinutes*time.Minute {
			harmed = nil
		}
		harmed = append(harmed, m)
	}
	if !lasts(harmed) {
		return f, false
	}
	f = detect.NewFinding(k, target, sample.Key{})
	f.Quality = detect.NewQuality(detect.SourceMinutes)
	first, last := harmed[0], harmed[len(harmed)-1]
	f.FirstSeen, f.LastSeen, f.Through = first.At, last.At.Add(time.Minute-time.Second), last.At.Add(time.Minute-time.Second)
	f.Seconds = 60 * int64(len(harmed))
	f.Severity, f.State, f.Share, f.Shards, f.Utilization = detect.Warning, detect.Firing, 1, 1, 1
	if r.Through.Sub(last.At) > (quietMinutes+1)*time.Minute {
		f.State = detect.Resolved
	}
	byReason := map[detect.Metric]float64{}
	all := 0.0
	for _, m := range harmed {
		f.Peak = higherPeak(f.Peak, m)
		for _, metric := range metrics {
			byReason[metric] += m.Metrics[metric]
		}
		all += events(m, metrics)
	}
	within := fmt.Sprintf("CloudWatch counts %s throttle events in %s", count(all), minutesText(len(harmed)))
	if k == detect.HotPartition {
		f.Reason = detect.Undetermined
		f.Why = within + " because of a key range: a partition was full. Which key filled it cannot be told from CloudWatch, and the samples show no key near a limit: several warm keys share the partition, or the samples do not show the requests."
		f.Advice = []detect.Step{detect.NewStep(detect.FixWaitForPartitionSplit), detect.NewStep(detect.FixContributorInsights)}
		return f, true
	}
	f.Reason = detect.Starved
	f.Why = fmt.Sprintf("%s (%s): the %s as a whole has too little, whatever its keys.", within, wording.List(reasonTexts(byReason)), noun(target))
	f.Advice = []detect.Step{detect.NewStep(detect.FixNamedCapacity)}
	return f, true
}

// lasts reports whether throttled minutes are harm enough for a finding: harmMinutes in
// harmOf, anywhere in them.
func lasts(harmed []Minute) bool {
	for i := harmMinutes - 1; i < len(harmed); i++ {
		if harmed[i].At.Sub(harmed[i-harmMinutes+1].At) < harmOf*time.Minute {
			return true
		}
	}
	return false
}

// events returns a minute's throttle events of these metrics.
func events(m Minute, metrics []detect.Metric) (n float64) {
	for _, metric := range metrics {
		n += m.Metrics[metric]
	}
	return n
}

// higherPeak returns the higher of a peak and a minute's mean second.
func higherPeak(p detect.Peak, m Minute) detect.Peak {
	w, r := m.Metrics[ConsumedWrite]/60, m.Metrics[ConsumedRead]/60
	if w+r > p.WCU.Value+p.RCU.Value || p.At.IsZero() {
		p = detect.Peak{Loads: detect.Loads{WCU: exactFigure(w), RCU: exactFigure(r)}, At: m.At}
	}
	return p
}

func exactFigure(v float64) detect.Figure { return detect.Figure{Value: v, Low: v, High: v} }

func reasonTexts(byReason map[detect.Metric]float64) (all []string) {
	for _, s := range []side{writes, reads} {
		for _, o := range s.others {
			if n := byReason[o.metric]; n > 0 {
				all = append(all, fmt.Sprintf("%s %ss because of %s", count(n), s.noun, o.name))
			}
		}
	}
	return all
}

// coverageFell returns the finding that the samples cover less of the load than before.
func coverageFell(target detect.Target, r *Reading) (f detect.Finding, ok bool) {
	var why []string
	for _, s := range []side{writes, reads} {
		before, now := fall(r, s)
		if before == nil {
			continue
		}
		why = append(why, fmt.Sprintf("the samples showed %s of the %s's %ss, and show %s (%s to %s) in the last %s",
			wording.Percent(before.Value), noun(target), s.noun, wording.Percent(now.Value), wording.PercentAtLeast(now.Low), wording.PercentAtMost(now.High), minutesText(recentMinutes)))
	}
	if len(why) == 0 {
		return f, false
	}
	recent := r.Minutes[len(r.Minutes)-recentMinutes:]
	f = detect.NewFinding(detect.CoverageFell, target, sample.Key{})
	f.Quality = detect.NewQuality(detect.SourceMinutes)
	f.Severity, f.State, f.Share, f.Shards = detect.Warning, detect.Firing, 1, 1
	f.Reason = detect.Undetermined
	f.FirstSeen, f.LastSeen = recent[0].At, recent[len(recent)-1].At.Add(time.Minute-time.Second)
	f.Through, f.Seconds = f.LastSeen, 60*int64(len(recent))
	for _, m := range recent {
		f.Peak = higherPeak(f.Peak, m)
	}
	f.Why = "By CloudWatch " + wording.List(why) + ": a hot key among the requests that are not sampled would not be seen."
	f.Advice = []detect.Step{detect.NewStep(detect.FixFindUnsampled)}
	return f, true
}

func noun(target detect.Target) string {
	if target.Index != "" {
		return "index"
	}
	return "table"
}

func minutesText(n int) string {
	if n == 1 {
		return "one minute"
	}
	return fmt.Sprintf("%d minutes", n)
}
