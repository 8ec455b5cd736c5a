package contributors

import (
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample/keyhash"
)

// Reading is what Contributor Insights counted of a table or index, beside what the
// samples show of its keys.
type Reading struct {
	// Unread says why there is nothing else, as the end of a sentence; empty where
	// the rules were read.
	Unread string
	// From and To are the first minute that was read, and the end of the last.
	From, To time.Time
	// Accessed and Throttled are what the two rules of partition keys list. The first of
	// a series' Keys names it, in the form in which samples have their keys.
	Accessed, Throttled Counts
	// Names is the name of the series of a key, by the key's text in samples; one key has
	// several where its type, or its secret, is not known.
	Names map[string]string
	// Hashes reports that keys are hidden by a policy, and Names has their hashes.
	Hashes bool
	// Sampled is what the samples show, by the Unix time of the minute and by key, and
	// SampledTo the end of the last minute that they have reached.
	Sampled   map[int64]map[string]Sampled
	SampledTo time.Time
}

// Counts is what one rule counted.
type Counts struct {
	// Exists reports whether the table or index has the rule.
	Exists bool
	Series []Series
	// Unlisted is the most that a key can have had in a minute in which it is not listed.
	Unlisted float64
}

// ListsAll reports whether every key that a rule counts is listed. Of a rule that lists none it
// is not known whether it counts.
func (c *Counts) ListsAll() bool { return len(c.Series) > 0 && c.Unlisted <= 0 }

// Sampled is what the samples show of a key in a minute.
type Sampled struct {
	// Served are the units that were not throttled.
	Served corroboration.Units
	// Peak is the share of a limit that its highest second had, at least.
	Peak float64
}

// approximate is by how much samples may be above what Contributor Insights counts: it
// calls its values approximate.
const approximate = 1.1

// Assess returns what Contributor Insights says of a finding of a key's load, beside what
// the table or index consumed. A key is near a limit from the share warning on.
func (r *Reading) Assess(f *detect.Finding, table []corroboration.Minute, warning float64) detect.ContributorInsights {
	c := detect.ContributorInsights{Verdict: detect.CountedNotAssessed}
	if r.Unread != "" {
		c.Why = "Contributor Insights was not assessed: " + r.Unread + "."
		return c
	}
	c.From, c.To = &r.From, &r.To
	from, to := later(r.From, f.FirstSeen.Truncate(time.Minute)), earlier(r.To, f.LastSeen.Truncate(time.Minute).Add(time.Minute))
	id, listed := r.Names[f.Key]
	switch {
	case len(r.Accessed.Series)+len(r.Throttled.Series) == 0:
		c.Why = r.empty()
	case !from.Before(to):
		c.Why = fmt.Sprintf("Contributor Insights was read for %s, which has none of these minutes yet, or any more.", span(r.From, r.To))
	case !listed && !r.Hashes && keyhash.Find(f.Key) >= 0:
		c.Why = "Contributor Insights was not assessed: the key is hidden by a policy, and the reporter has no secret with which to recognise it (cloudwatch.keys_secret_file)."
	case !listed && !r.isKnown():
		c.Why = fmt.Sprintf("Contributor Insights was not assessed: none of the %s that it lists for %s is among those of the samples, so that they may be those of another account or Region, or hidden with another secret.", keys(len(r.Accessed.Series)+len(r.Throttled.Series)), span(r.From, r.To))
	default:
		k := r.key(id, from, to, table, warning)
		c.Verdict, c.Why = r.verdict(k, listed, from, to)
		if why := r.explainLess(f, id, from, to, table); why != "" {
			c.Verdict, c.Why = detect.CountedLess, why+" "+c.Why
		}
	}
	return c
}

// isKnown reports whether the samples have some key that is listed, which shows that both
// have keys in the same form.
func (r *Reading) isKnown() bool {
	for _, minute := range r.Sampled {
		for name := range minute {
			if _, listed := r.Names[name]; listed {
				return true
			}
		}
	}
	return false
}

// empty returns why there is nothing to compare with.
func (r *Reading) empty() string {
	s := "Contributor Insights is enabled and empty: it lists no key for " + span(r.From, r.To) + ". That is no data, neither zero nor health."
	if !r.Accessed.Exists {
		s += " It counts throttled keys only."
	}
	return s
}

// key judges a key by some minutes; its verdict is empty where it is not listed in them.
func (r *Reading) key(id string, from, to time.Time, table []corroboration.Minute, warning float64) (k Key) {
	reports := Reports{Accessed: cutSeries(r.Accessed.Series, from, to), Throttled: cutSeries(r.Throttled.Series, from, to), AllThrottled: r.Throttled.ListsAll(), Minutes: table, Warning: warning}
	all := reports.Judge()
	if i := slices.IndexFunc(all, func(k Key) bool { return k.Key == id }); i >= 0 {
		k = all[i]
	}
	return k
}

// cutSeries returns the points of series in some minutes.
func cutSeries(all []Series, from, to time.Time) []Series {
	var in []Series
	for _, s := range all {
		s.Points = slices.DeleteFunc(slices.Clone(s.Points), func(p Point) bool { return p.At.Before(from) || !p.At.Before(to) })
		if len(s.Points) > 0 {
			in = append(in, s)
		}
	}
	return in
}

// verdict says what follows for a key that has been judged.
func (r *Reading) verdict(k Key, listed bool, from, to time.Time) (detect.Counted, string) {
	switch {
	case !listed || k.Verdict == "":
		return detect.CountedNotListed, fmt.Sprintf("Contributor Insights does not list the key for %s. %s", span(from, to), r.others())
	case k.Verdict == NotCounted:
		return detect.CountedThrottled, "Contributor Insights counts the key among the throttled. " + k.Why
	}
	why := "Contributor Insights counts the key. " + k.Why
	if k.Throttled == 0 && r.Throttled.Exists {
		why += " It is not among the throttled keys that are listed."
	}
	switch {
	case k.Verdict == Over || k.Verdict == OverNotThrottled:
		return detect.CountedOver, why
	case k.Throttled > 0:
		return detect.CountedThrottled, why
	}
	return detect.CountedListed, why
}

// others says what a key that is not listed can have had.
func (r *Reading) others() string {
	switch {
	case !r.Accessed.Exists:
		return "It counts throttled keys only, so that this says nothing of the key's load."
	case r.Accessed.Unlisted > 0:
		return fmt.Sprintf("It lists %s; any other had at most %s ConsumedThroughputUnits in a minute, %s of what a partition serves.",
			keys(len(r.Accessed.Series)), wording.AtMost(r.Accessed.Unlisted), wording.PercentAtMost(r.Accessed.Unlisted/Decisive))
	}
	return fmt.Sprintf("It lists %s, all that it counted.", keys(len(r.Accessed.Series)))
}

// explainLess returns that a key had less than the samples show; empty where that does not
// follow. Both may put a request at a minute's edge into different minutes: what the
// samples show in some minutes is compared with those and one more on each side.
func (r *Reading) explainLess(f *detect.Finding, id string, from, to time.Time, table []corroboration.Minute) string {
	if !r.Accessed.Exists || len(r.Accessed.Series) == 0 {
		return ""
	}
	from, to = later(from, r.From.Add(time.Minute)), earlier(to, r.To.Add(-time.Minute))
	side := func(write, read float64) float64 { return detect.Side(f.Kind, write, read) }
	mean := detect.Side(f.Kind, f.Mean.WCU, f.Mean.RCU)
	if !from.Before(to) || mean.Value <= 0 {
		return ""
	}
	sampled := 0.0
	for at := from; at.Before(to); at = at.Add(time.Minute) {
		s := r.Sampled[at.Unix()][f.Key]
		sampled += side(s.Served.Write, s.Served.Read)
	}
	sampled *= min(1, mean.Low/mean.Value) // what sampling leaves open of the episode
	most := 0.0
	minutes, values := r.minutes(id, table)
	for at := from.Add(-time.Minute); !at.After(to); at = at.Add(time.Minute) {
		value, has := values[at.Unix()]
		if !has {
			value = r.Accessed.Unlisted
		}
		b := minutes(at.Unix()).boundsOf(value)
		most += seconds * side(b.WCU.High, b.RCU.High)
	}
	if sampled <= approximate*most {
		return ""
	}
	return fmt.Sprintf("Contributor Insights contradicts the samples: they show at least %s %s units of the key for %s, and it counts at most %s. Requests are counted twice, or the samples state a rate that is too small; or they are PartiQL statements, which Contributor Insights does not count.",
		wording.AtLeast(sampled), detect.Side(f.Kind, "write", "read"), span(from, to), wording.AtMost(most))
}

// minutes returns what the table or index consumed in a minute, as far as it fits what
// is listed, and the values of a key by minute.
func (r *Reading) minutes(id string, table []corroboration.Minute) (func(int64) consumed, map[int64]float64) {
	listed, values := map[int64]float64{}, map[int64]float64{}
	for _, s := range r.Accessed.Series {
		for _, p := range s.Points {
			listed[p.At.Unix()] += p.Value
			if s.Keys[0] == id {
				values[p.At.Unix()] = p.Value
			}
		}
	}
	byMinute := make(map[int64]consumed, len(table))
	for _, m := range table {
		whole := consumedIn(m)
		whole.known = whole.fits(listed[m.At.Unix()])
		byMinute[m.At.Unix()] = whole
	}
	return func(at int64) consumed { return byMinute[at] }, values
}

// Unseen says how many keys are over a limit in a minute in which the samples show
// no load of theirs that is near it; nothing where there are none. It names no key: what
// it is said in is stored, and a policy may hide keys.
func (r *Reading) Unseen(of detect.Target, table []corroboration.Minute, p detect.Policy) string {
	if !r.isKnown() {
		return ""
	}
	reports := Reports{Accessed: r.Accessed.Series, Minutes: table, Warning: p.Warning}
	n, worst := 0, Key{}
	for _, k := range reports.Judge() {
		// What has not been counted by the samples yet, or cannot be compared, is not unseen.
		if k.OverMinutes == 0 || !k.Minute.Add(2*time.Minute).Before(r.SampledTo) || p.Excludes(k.Key) || r.isShown(&k, p.Warning) {
			continue
		}
		if n++; n == 1 {
			worst = k
		}
	}
	if n == 0 {
		return ""
	}
	command := "reporter analyze --contributor-insights " + wording.Printable(of.Table)
	if of.Index != "" {
		command += " --index " + wording.Printable(of.Index)
	}
	return fmt.Sprintf("Contributor Insights counts %s over a limit of which the samples show no such load: %s in the minute %s. A caller is not sampled. %s names what it lists.",
		keys(n), worst.alternatives(), worst.minuteText(), command)
}

// isShown reports whether the samples show that a key was near a limit about the minute
// of its verdict, or may.
func (r *Reading) isShown(k *Key, warning float64) bool {
	for _, beside := range []time.Duration{-time.Minute, 0, time.Minute} {
		for name, s := range r.Sampled[k.Minute.Add(beside).Unix()] {
			hidden := !r.Hashes && keyhash.Find(name) >= 0
			if s.Peak >= warning && (hidden || r.Names[name] == k.Key) {
				return true
			}
		}
	}
	return false
}

func keys(n int) string {
	if n == 1 {
		return "1 key"
	}
	return wording.Count(int64(n)) + " keys"
}

func span(from, to time.Time) string {
	return from.UTC().Format(time.RFC3339) + " to " + to.UTC().Format(time.RFC3339)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
