package contributors

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/sample"
)

// Series is a rule's report on one key: a partition key or, with its sort key, an item.
// Values are counts by the Unix time of each minute's start. They omit minutes that do not
// list the key: these are unknown, not zero.
type Series struct {
	Keys   []string
	Values map[int64]float64
}

// Reports are the reports of a table's or index's rules beside CloudWatch's metrics.
type Reports struct {
	Target detect.Target
	// Accessed and Throttled are of partition keys, Items of items.
	Accessed, Items, Throttled []Series
	// AllThrottled reports that Throttled lists every key with throttled requests.
	AllThrottled bool
	// CloudWatch has no minutes if the table's metrics are unknown.
	CloudWatch *corroboration.Reading
	Policy     detect.Policy
	KeysHidden bool
}

type judge struct {
	*Reports
	table     map[int64]corroboration.Minute
	listed    map[int64]float64            // the sum of all keys
	throttled map[string]map[int64]float64 // by key
}

// Judge returns the findings, the worst first, and the doubts, the highest first. It judges
// all keys but those that the policy excludes.
func (r *Reports) Judge() (found []detect.Finding, doubts []detect.Doubt) {
	j := judge{r, make(map[int64]corroboration.Minute), make(map[int64]float64), make(map[string]map[int64]float64)}
	for _, m := range r.CloudWatch.Minutes {
		j.table[m.At.Unix()] = m
	}
	for _, s := range r.Accessed {
		for at, value := range s.Values {
			j.listed[at] += value
		}
	}
	for _, s := range r.Throttled {
		j.throttled[s.Keys[0]] = s.Values
	}
	for _, s := range r.Accessed {
		for _, subject := range []detect.Subject{detect.KeyWrites, detect.KeyReads} {
			f, most := j.key(s, subject)
			if f.Severity != "" {
				found = append(found, f)
			}
			if most > over*detect.Units(f.Limit()) && f.SecondsOver() == 0 {
				doubts = append(doubts, detect.Doubt{KeyRef: f.KeyRef, Unit: detect.SideOf(&f, "wcu", "rcu"), Most: most})
			}
		}
	}
	found = append(found, j.throttling(found)...)
	for i := range found {
		found[i].Severity, found[i].Quality.KeysHidden = r.Policy.Cap(found[i].Severity), r.KeysHidden
	}
	casebook.Settle(found)
	slices.SortFunc(found, func(x, y detect.Finding) int {
		return cmp.Or(detect.Rank(y.Severity)-detect.Rank(x.Severity), cmp.Compare(y.Utilization, x.Utilization), cmp.Compare(x.Fingerprint, y.Fingerprint))
	})
	slices.SortFunc(doubts, func(x, y detect.Doubt) int { return cmp.Or(cmp.Compare(y.Most, x.Most), cmp.Compare(x.Key, y.Key)) })
	return found, doubts
}

// key returns the finding about a key's writes or reads, without a severity if they are not
// proven to be near the limit, and the most that they can have been.
func (j *judge) key(s Series, subject detect.Subject) (f detect.Finding, most float64) {
	f = detect.NewFinding(subject, j.Target, sample.KeyString(s.Keys[0]))
	f.OverSeconds, f.Evidence = new(int), detect.NewEvidence(map[string]int64{})
	if j.Policy.Excludes(s.Keys[0]) {
		return f, 0
	}
	for _, at := range slices.Sorted(maps.Keys(s.Values)) {
		load := means(j.table[at], j.listed[at], s.Values[at])
		most = max(most, detect.SideOf(&f, load.WCU, load.RCU).High)
		j.addMinute(&f, at, load)
	}
	if f.Severity != "" {
		j.finish(&f)
	}
	return f, most
}

// addMinute adds a minute to a finding if its load is proven near the limit, or over it.
func (j *judge) addMinute(f *detect.Finding, at int64, load detect.Loads) {
	requests, alone := corroboration.KeyRange(j.table[at], f)
	throttled := j.throttled[string(f.Key)][at]
	_, _, known := consumed(j.table[at])
	served := known && (requests == 0 || j.AllThrottled && throttled == 0)
	if requests == 0 || !alone { // some may be of the other side, or for another reason
		throttled = 0
	}
	share := detect.SideOf(f, load.WCU, load.RCU).Low / detect.Units(f.Limit())
	switch {
	case share > over && !served, share >= detect.SaturatedFrom && throttled > 0:
		f.Severity = detect.Critical
	case share > j.Policy.Warning:
		f.Severity = detect.WorstSeverity(f.Severity, detect.Warning)
	default:
		return
	}
	if f.FirstSeen.IsZero() {
		f.FirstSeen = detect.TimeOf(at)
	}
	f.LastSeen = detect.TimeOf(at + seconds - 1)
	if throttled > 0 {
		f.Evidence.Refused[sample.KeyRange.String()] += int64(throttled)
	}
	if share > over { // in one of its seconds at least
		*f.OverSeconds++
		f.PossibleSeconds += seconds - 1
	}
	if share > f.Utilization {
		f.Utilization, f.Mean, f.Peak.At = share, load, detect.TimeOf(at)
	}
}

// finish completes the finding about a key by its highest minute.
func (j *judge) finish(f *detect.Finding) {
	f.Quality, f.State = detect.NewQuality(detect.SourceMinutes), detect.Firing
	if j.CloudWatch.Through.Sub(f.LastSeen) > corroboration.Quiet+time.Minute {
		f.State = detect.Resolved
	}
	f.Through, f.Seconds = f.LastSeen, seconds
	f.Consumed = detect.Consumed{WCU: f.Mean.WCU.Low, RCU: f.Mean.RCU.Low}
	f.Peak.Loads = f.Mean // and its highest second has more
	f.Peak.WCU.High, f.Peak.RCU.High = seconds*f.Mean.WCU.High, seconds*f.Mean.RCU.High
	if write, read, known := consumed(j.table[f.Peak.At.Unix()]); known {
		f.Share = min(1, detect.Ratio(detect.SideOf(f, f.Mean.WCU, f.Mean.RCU).Low*seconds, detect.SideOf(f, write, read)))
	}
	f.CloudWatch = new(corroboration.Assess(f, j.CloudWatch))
	j.advise(f)
}

// advise adds what helps: a split unless one item fills a partition, and shards of a key over
// the limit that has other items. The number of shards is the least that serves the mean.
func (j *judge) advise(f *detect.Finding) {
	proven := detect.SideOf(f, f.Mean.WCU, f.Mean.RCU).Low
	f.Ground, f.Shards, f.Evidence.Items = detect.GroundNoSortKeys, detect.Shards(sample.Milli(1000*proven), f.Limit(), j.Policy.Headroom), j.fullItems(f)
	f.Advice = []detect.Step{detect.NewStep(detect.FixWaitForSplit)}
	step := detect.NewStep(detect.FixShardedKey)
	switch {
	case len(f.Evidence.Items) > 0:
		f.Ground, f.Advice, step = detect.GroundItem, []detect.Step{}, detect.NewStep(detect.SideOf(f, detect.FixFewerWrites, detect.FixCache))
	case f.Index != "":
		step = detect.NewStep(detect.FixShardedIndex)
	}
	if step.Arguments.Count, step.Arguments.AtLeast = f.Shards, true; f.SecondsOver() > 0 && len(j.Items) > 0 {
		f.Advice = append(f.Advice, step)
	}
}

// fullItems returns the items of a key that fill a partition alone, in the finding's highest
// minute.
func (j *judge) fullItems(f *detect.Finding) []detect.Part {
	all, at, key := []detect.Part{}, f.Peak.At.Unix(), detect.SideOf(f, f.Mean.WCU, f.Mean.RCU)
	for _, s := range j.Items {
		if len(s.Keys) < 2 || s.Keys[0] != string(f.Key) {
			continue
		}
		load := means(j.table[at], j.listed[at], s.Values[at])
		item := detect.SideOf(f, load.WCU, load.RCU)
		if item.Low >= detect.SaturatedFrom*detect.Units(f.Limit()) {
			all = append(all, detect.Part{Text: sample.Text(s.Keys[1]), Low: min(1, item.Low/key.High), High: min(1, item.High/key.Low)})
		}
	}
	return all
}
