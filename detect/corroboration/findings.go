package corroboration

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
)

// Findings returns the findings about a table or index that rest on CloudWatch alone: a
// partition throttles, capacity is too low, or the samples' coverage fell. They follow
// from the minutes only, so an unreachable CloudWatch changes none of them.
func Findings(target detect.Target, r *Reading) (found []detect.Finding) {
	for _, k := range []detect.Subject{detect.SubjectPartition, detect.SubjectTable} {
		if f, harmed := Throttling(target, r, k); lasts(harmed) {
			found = append(found, f)
		}
	}
	if f, ok := coverageFell(target, r); ok {
		found = append(found, f)
	}
	return found
}

func throttleMetrics(k detect.Subject) (metrics []detect.Metric) {
	for _, s := range []side{writes, reads} {
		if k == detect.SubjectPartition {
			metrics = append(metrics, s.keyRange)
			continue
		}
		for _, o := range s.others {
			metrics = append(metrics, o.metric)
		}
	}
	return metrics
}

// Throttling returns the finding about the latest episode of throttling for a subject's
// reasons, and the episode's minutes with throttling; none without any.
func Throttling(target detect.Target, r *Reading, k detect.Subject) (f detect.Finding, harmed []Minute) {
	metrics := throttleMetrics(k)
	for _, m := range r.Minutes {
		if n := events(m, metrics); n == 0 {
			continue
		}
		if len(harmed) > 0 && m.At.Sub(harmed[len(harmed)-1].At) > Quiet {
			harmed = nil
		}
		harmed = append(harmed, m)
	}
	if len(harmed) == 0 {
		return f, nil
	}
	f = OverMinutes(detect.NewFinding(k, target, sample.Key{}), harmed)
	f.Utilization, f.Evidence = 1, detect.NewEvidence(refusals(harmed, k))
	if r.Through.Sub(harmed[len(harmed)-1].At) > Quiet+time.Minute {
		f.State = detect.Resolved
	}
	if k == detect.SubjectPartition {
		f.Ground = detect.GroundNotSeen
		f.Advice = []detect.Step{detect.NewStep(detect.FixWaitForPartitionSplit), detect.NewStep(detect.FixContributorInsights)}
		return f, harmed
	}
	f.Ground = lack(harmed)
	f.Advice = []detect.Step{detect.NewStep(detect.FixNamedCapacity)}
	return f, harmed
}

func refusals(harmed []Minute, k detect.Subject) map[string]int64 {
	counts := map[string]int64{}
	for _, s := range []side{writes, reads} {
		if n, _ := sum(harmed, s.keyRange); k == detect.SubjectPartition && n > 0 {
			counts[sample.KeyRange.String()] += int64(n)
		}
		for _, o := range s.others {
			if n, _ := sum(harmed, o.metric); k == detect.SubjectTable && n > 0 {
				counts[o.reason.String()] += int64(n)
			}
		}
	}
	return counts
}

// KeyRange returns how many requests were throttled in a minute because of a key range, on a
// finding's side of the load, and whether no others were throttled.
func KeyRange(m Minute, f *detect.Finding) (requests float64, alone bool) {
	requests = m.Metrics[sideOf(f).keyRange]
	return requests, requests == events(m, throttleMetrics(detect.SubjectPartition))+events(m, throttleMetrics(detect.SubjectTable))
}

// OverMinutes gives a finding the figures of minutes.
func OverMinutes(f detect.Finding, minutes []Minute) detect.Finding {
	f.Quality = detect.NewQuality(detect.SourceMinutes)
	f.Severity, f.State, f.Share, f.Shards = detect.Warning, detect.Firing, 1, 1
	f.FirstSeen, f.LastSeen = minutes[0].At, minutes[len(minutes)-1].At.Add(time.Minute-time.Second)
	f.Through, f.Seconds = f.LastSeen, 60*int64(len(minutes))
	for _, m := range minutes {
		f.Peak = higherPeak(f.Peak, m)
	}
	return f
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
		p = detect.Peak{Loads: detect.Loads{WCU: detect.ExactFigure(w), RCU: detect.ExactFigure(r)}, At: m.At}
	}
	return p
}

// lack returns the capacity that most requests of some minutes were throttled for.
func lack(harmed []Minute) (ground detect.Ground) {
	most, events := 0.0, map[detect.Ground]float64{}
	for _, s := range []side{writes, reads} {
		for _, o := range s.others {
			n, _ := sum(harmed, o.metric)
			if events[o.ground] += n; events[o.ground] > most {
				most, ground = events[o.ground], o.ground
			}
		}
	}
	return ground
}

// coverageFell returns the finding that the samples cover less of the load than before.
func coverageFell(target detect.Target, r *Reading) (f detect.Finding, ok bool) {
	before, now := fall(r, writes)
	if before == nil {
		before, now = fall(r, reads)
	}
	if before == nil {
		return f, false
	}
	f = OverMinutes(casebook.NewFinding(casebook.CoverageFell, target, sample.Key{}), r.Minutes[len(r.Minutes)-recentMinutes:])
	f.Blind = &detect.Blind{Names: []string{}, Before: before, Now: now}
	f.Advice = []detect.Step{detect.NewStep(detect.FixFindUnsampled)}
	return f, true
}
