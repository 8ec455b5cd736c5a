package contributors

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
)

// Verdict is the verdict of minutes on a key.
type Verdict string

// The verdicts, the worst first. None of them is health.
const (
	// Over means that the mean of a minute is above a limit for any mix of reads and
	// writes.
	Over Verdict = "over"
	// Full means that requests of the key were throttled in a minute with throttling
	// because of a key range: a partition was full. It does not prove that the key alone
	// fills the partition.
	Full Verdict = "full"
	// Possible means that the mean of a minute is above a limit for some mixes of reads and
	// writes, or that only the key's throttling was reported, not its load.
	Possible Verdict = "possible"
	// Near means that the mean of a minute is above the policy's share of a limit, for some
	// mixes at least, and above the limit for none.
	Near Verdict = "near"
	// Under means that no minute's mean is near a limit. Single seconds are not seen.
	Under Verdict = "under"
)

// Verdicts returns all verdicts, the worst first.
func Verdicts() []Verdict { return []Verdict{Over, Full, Possible, Near, Under} }

// Assessment is the verdict of one minute on a key.
type Assessment struct {
	Verdict  Verdict         `json:"verdict"`
	Severity detect.Severity `json:"severity"`
	// Worst is the worst severity that the reports leave possible.
	Worst detect.Severity `json:"possible_severity"`
	// Served reports that no request of the key was throttled because of a key range in
	// Minute; false if this is unknown.
	Served bool `json:"served"`
	// Minute is the minute's start. Value is the key's count by Contributor Insights, 3W +
	// R, and Bounds are the possible reads and writes. If the key's load was not reported,
	// Value is null and Bounds are left out.
	Minute *time.Time `json:"minute"`
	Value  *float64   `json:"value"`
	*Bounds
}

// Key is the verdict on one key, or on one item.
type Key struct {
	Key string `json:"key"`
	// SortKey is an item's sort key; nil for a partition key.
	SortKey *string `json:"sort_key"`
	// Assessment is of the worst minute; Minute is null if none was judged.
	Assessment
	// Minutes counts the minutes with a reported load. OverMinutes of them are above a
	// limit for any mix of reads and writes, PossibleMinutes for some.
	Minutes         int `json:"minutes"`
	OverMinutes     int `json:"over_minutes"`
	PossibleMinutes int `json:"possible_minutes"`
	// Throttled counts throttled requests, including retries, in ThrottledMinutes minutes.
	Throttled        int64 `json:"throttled"`
	ThrottledMinutes int   `json:"throttled_minutes"`
	// KeyRange counts the minutes of ThrottledMinutes with throttling because of a key
	// range by CloudWatch: some partition was full. It is null without throttling, or if
	// CloudWatch has no data of one of these minutes.
	KeyRange *int `json:"key_range_minutes"`
	// LargestItem is the largest reported item's share of Value. It is null if no item was
	// reported in Minute, and for items.
	LargestItem *float64 `json:"largest_item"`

	id string // the series' id
}

// Series is a rule's report on one key: a partition key or, with its sort key, an item.
// Values are counts by the Unix time of each minute's start. They omit minutes that do not
// list the key: these are unknown, not zero.
type Series struct {
	Keys   []string
	Values map[int64]float64
}

// Reports are the reports of two rules, both of partition keys or both of items, beside
// CloudWatch's minutes.
type Reports struct {
	Accessed, Throttled []Series
	// AllThrottled reports that Throttled lists every key with throttled requests.
	AllThrottled bool
	Minutes      []corroboration.Minute
	// Warning is the policy's warning share of a limit.
	Warning float64
}

type judge struct {
	*Reports
	table  map[int64]corroboration.Minute
	listed map[int64]float64 // the sum of all keys
}

// Judge returns the verdicts, the worst first.
func (r *Reports) Judge() []Key {
	j := judge{r, make(map[int64]corroboration.Minute, len(r.Minutes)), make(map[int64]float64)}
	for _, m := range r.Minutes {
		j.table[m.At.Unix()] = m
	}
	throttled := make(map[string]Series, len(r.Throttled))
	for _, s := range r.Throttled {
		throttled[s.id()] = s
	}
	for _, s := range r.Accessed {
		for at, value := range s.Values {
			j.listed[at] += value
		}
	}
	var all []Key
	for _, s := range r.Accessed {
		all = append(all, j.key(s, throttled[s.id()]))
		delete(throttled, s.id())
	}
	for _, s := range throttled {
		all = append(all, j.key(Series{Keys: s.Keys}, s))
	}
	slices.SortFunc(all, func(a, b Key) int {
		return cmp.Or(a.compare(&b.Assessment), cmp.Compare(b.Throttled, a.Throttled), cmp.Compare(a.id, b.id))
	})
	return all
}

func (j *judge) key(accessed, throttled Series) Key {
	k := Key{Assessment: Assessment{Verdict: Possible, Severity: detect.Info, Worst: detect.Critical}, Minutes: len(accessed.Values), id: accessed.id()}
	if len(accessed.Keys) > 0 {
		k.Key = accessed.Keys[0]
	}
	if len(accessed.Keys) > 1 { // a rule of items has the sort key behind the partition key
		k.SortKey = new(strings.Join(accessed.Keys[1:], ","))
	}
	var judged []Assessment
	for _, at := range slices.Sorted(maps.Keys(accessed.Values)) {
		a := j.assess(at, accessed.Values[at], throttled.Values[at] > 0)
		switch {
		case a.Share.Low > over:
			k.OverMinutes++
		case a.Share.High > over:
			k.PossibleMinutes++
		}
		judged = append(judged, a)
	}
	full, known := 0, true
	for _, at := range slices.Sorted(maps.Keys(throttled.Values)) {
		if throttled.Values[at] <= 0 {
			continue
		}
		k.Throttled += int64(throttled.Values[at])
		k.ThrottledMinutes++
		m, counted := j.table[at]
		known = known && counted
		if KeyRangeThrottles(m) > 0 {
			full++ // and the minute's load, if it is reported, makes it at least as bad
			judged = append(judged, Assessment{Verdict: Full, Severity: detect.Warning, Worst: detect.Critical, Minute: new(detect.TimeOf(at))})
		}
	}
	if k.ThrottledMinutes > 0 && known {
		k.KeyRange = &full
	}
	if len(judged) > 0 {
		k.Assessment = slices.MinFunc(judged, func(a, b Assessment) int { return a.compare(&b) })
	} else if k.KeyRange != nil {
		k.Worst = detect.Warning
	}
	if k.Throttled > 0 {
		k.Severity, k.Worst = detect.WorstSeverity(k.Severity, detect.Warning), detect.WorstSeverity(k.Worst, detect.Warning)
	}
	return k
}

// assess returns the verdict of one minute. refused reports that requests of the key were
// throttled in it.
func (j *judge) assess(at int64, value float64, refused bool) Assessment {
	m := j.table[at]
	table := consumedIn(m)
	served := table.known && (KeyRangeThrottles(m) == 0 || j.AllThrottled && !refused)
	full := refused && KeyRangeThrottles(m) > 0
	table.known = table.fits(j.listed[at])
	b := table.boundsOf(value)
	a := Assessment{Verdict: Under, Severity: detect.Info, Worst: detect.Info, Served: served, Minute: new(detect.TimeOf(at)), Value: &value, Bounds: &b}
	switch {
	case b.Share.Low > over:
		a.Verdict = Over
	case full:
		a.Verdict = Full
	case b.Share.High > over:
		a.Verdict = Possible
	case b.Share.High > j.Warning:
		a.Verdict = Near
	}
	switch {
	case b.Share.Low > over && !served, b.Share.Low >= detect.SaturatedFrom && full:
		a.Severity = detect.Critical
	case b.Share.Low > j.Warning, full:
		a.Severity = detect.Warning
	}
	switch {
	case b.Share.High > over && !served, full:
		a.Worst = detect.Critical
	case b.Share.High > j.Warning:
		a.Worst = detect.Warning
	}
	return a
}

func (a *Assessment) compare(b *Assessment) int {
	var x, y Range
	if a.Bounds != nil {
		x = a.Share
	}
	if b.Bounds != nil {
		y = b.Share
	}
	return cmp.Or(detect.Rank(b.Severity)-detect.Rank(a.Severity), detect.Rank(b.Worst)-detect.Rank(a.Worst),
		slices.Index(Verdicts(), a.Verdict)-slices.Index(Verdicts(), b.Verdict), cmp.Compare(y.Low, x.Low), cmp.Compare(y.High, x.High))
}

// KeyRangeThrottles returns CloudWatch's count of requests that were throttled in a minute
// because of a key range.
func KeyRangeThrottles(m corroboration.Minute) float64 {
	return m.Metrics[corroboration.WriteKeyRangeThrottles] + m.Metrics[corroboration.ReadKeyRangeThrottles]
}

// SetLargestItem adds to a partition key its largest item in the minute of the verdict.
func (k *Key) SetLargestItem(items []Series) {
	if k.Value == nil || *k.Value <= 0 {
		return
	}
	largest := 0.0
	for _, s := range items {
		if len(s.Keys) > 1 && s.Keys[0] == k.Key {
			largest = max(largest, s.Values[k.Minute.Unix()])
		}
	}
	if largest > 0 {
		k.LargestItem = new(min(1, largest / *k.Value))
	}
}

func (s Series) id() string { return strings.Join(s.Keys, "\x00") }
