package contributors

import (
	"cmp"
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
	// writes. Requests were throttled in that minute because of a key range, or this is
	// unknown.
	Over Verdict = "over"
	// AtLimit means that the mean of a minute is proven to reach detect.SaturatedFrom of
	// a limit. Requests of the key were throttled in that minute, and some requests
	// because of a key range.
	AtLimit Verdict = "at_limit"
	// PartitionFull means that requests of the key were throttled in a minute with
	// throttling because of a key range. It does not prove that the key alone fills the
	// partition.
	PartitionFull Verdict = "partition_full"
	// OverNotThrottled means that the mean of a minute is above a limit. In such minutes
	// no request of the key was throttled because of a key range. Values are approximate,
	// and the items of a key may be on several partitions.
	OverNotThrottled Verdict = "over_not_throttled"
	// Near means that the mean of a minute is proven above the policy's share of a limit.
	Near Verdict = "near"
	// Possible means that the mean of a minute is above a limit for some mixes of reads
	// and writes.
	Possible Verdict = "possible"
	// PossiblyNear means that the mean of a minute may be above the policy's share of a
	// limit, and is not above the limit.
	PossiblyNear Verdict = "possibly_near"
	// Throttled means that requests of the key were throttled, but its load is not near a
	// limit. CloudWatch shows no full partition in these minutes.
	Throttled Verdict = "throttled"
	// NotOver means that no minute's mean is above a limit. Single seconds may be.
	NotOver Verdict = "not_over_in_minutes"
	// NotCounted means that only the key's throttling was reported, not its load.
	NotCounted Verdict = "not_counted"
)

var verdicts = []Verdict{Over, AtLimit, PartitionFull, OverNotThrottled, Near, Possible, Throttled, PossiblyNear, NotOver, NotCounted}

func (v Verdict) rank() int { return slices.Index(verdicts, v) }

// Key is the verdict on one key, or on one item.
type Key struct {
	Key string `json:"key"`
	// SortKey is an item's sort key; nil for a partition key.
	SortKey  *string         `json:"sort_key"`
	Verdict  Verdict         `json:"verdict"`
	Severity detect.Severity `json:"severity"`
	// Worst is the worst severity that the reports leave possible.
	Worst detect.Severity `json:"possible_severity"`
	// Minute is the minute of the verdict. Value is its count by Contributor Insights, 3W
	// + R, and Bounds are the possible reads and writes. If the key's load was not
	// reported, Minute and Value are null and Bounds are left out.
	Minute *time.Time `json:"minute"`
	Value  *float64   `json:"value"`
	*Bounds
	// Minutes counts the minutes with a reported load. OverMinutes of them are above a
	// limit for any mix of reads and writes, PossibleMinutes for some.
	Minutes         int `json:"minutes"`
	OverMinutes     int `json:"over_minutes"`
	PossibleMinutes int `json:"possible_minutes"`
	// Throttled counts throttled requests, including retries, in ThrottledMinutes minutes
	// from ThrottledFirst to ThrottledLast. The times are null without throttling.
	Throttled        int64      `json:"throttled"`
	ThrottledMinutes int        `json:"throttled_minutes"`
	ThrottledFirst   *time.Time `json:"throttled_first"`
	ThrottledLast    *time.Time `json:"throttled_last"`
	// KeyRange counts the minutes of ThrottledMinutes with throttling because of a key
	// range by CloudWatch: some partition was full. It is null without throttling, or if
	// CloudWatch has no data of one of these minutes.
	KeyRange *int `json:"key_range_minutes"`
	// KeyRangeOf lists the kinds of requests, "write" and "read", that CloudWatch counts
	// as throttled because of a key range in these minutes. It covers the whole table,
	// not only this key.
	KeyRangeOf []string `json:"key_range_of"`
	// Items counts the key's items reported in Minute: a report lists 25 items of all
	// keys. LargestItem is the largest item's share of Value. Both are null if none was
	// reported, and in verdicts on items.
	Items       *int     `json:"items"`
	LargestItem *float64 `json:"largest_item"`
	// Why explains the verdict in sentences.
	Why string `json:"why"`
	// First is the first fix, or the missing figure that would decide. It is empty for
	// items, and if nothing is to be done.
	First string `json:"first"`

	// refused reports possible throttling because of a key range in some minute that is
	// or may be above a limit.
	refused bool
	// whole reports that the table's own metrics of Minute are known.
	whole bool
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

// Judge returns the verdicts, the worst first.
func (r *Reports) Judge() []Key {
	table := make(map[int64]corroboration.Minute, len(r.Minutes))
	for _, m := range r.Minutes {
		table[m.At.Unix()] = m
	}
	listed := make(map[int64]float64)
	for _, s := range r.Accessed {
		for _, p := range s.Points {
			listed[p.At.Unix()] += p.Value
		}
	}
	throttled := make(map[string]Series, len(r.Throttled))
	for _, s := range r.Throttled {
		throttled[s.id()] = s
	}
	var all []Key
	for _, s := range r.Accessed {
		k := s.key()
		k.addThrottled(throttled[s.id()], table)
		delete(throttled, s.id())
		r.judge(&k, s, table, listed, throttledIn(r.Throttled, s))
		all = append(all, k)
	}
	for _, s := range r.Throttled {
		if _, alone := throttled[s.id()]; alone {
			k := s.key()
			k.Verdict = NotCounted
			k.addThrottled(s, table)
			all = append(all, k)
		}
	}
	for i := range all {
		all[i].rate()
	}
	slices.SortStableFunc(all, func(a, b Key) int {
		return cmp.Or(detect.Rank(b.Severity)-detect.Rank(a.Severity), a.Verdict.rank()-b.Verdict.rank(),
			cmp.Compare(b.highest(), a.highest()), cmp.Compare(b.Throttled, a.Throttled), cmp.Compare(a.Key, b.Key))
	})
	return all
}

// judge finds the minute with the worst verdict on a key.
func (r *Reports) judge(k *Key, s Series, table map[int64]corroboration.Minute, listed map[int64]float64, throttled map[int64]bool) {
	k.Verdict = NotCounted
	var best Range
	for _, p := range s.Points {
		at := p.At.Unix()
		whole := consumedIn(table[at])
		whole.known = whole.fits(listed[at])
		b := whole.boundsOf(p.Value)
		share := b.shares(p.Value)
		served := consumedIn(table[at]).known && (keyRange(table[at]) == 0 || r.AllThrottled && !throttled[at])
		v := r.verdict(share, throttled[at] && keyRange(table[at]) > 0, served)
		k.Minutes++
		k.refused = k.refused || share.High > over && !served
		switch {
		case share.Low > over:
			k.OverMinutes++
		case share.High > over:
			k.PossibleMinutes++
		}
		if worse := cmp.Or(v.rank()-k.Verdict.rank(), cmp.Compare(best.Low, share.Low), cmp.Compare(best.High, share.High)); worse >= 0 && k.Bounds != nil {
			continue
		}
		best = share
		k.Verdict, k.Minute, k.Value, k.Bounds, k.whole = v, &p.At, &p.Value, &b, consumedIn(table[at]).known
	}
}

// verdict returns the verdict of one minute. full reports that requests of the key were
// throttled in it while a partition was full. served reports that none of them was
// throttled because of a key range.
func (r *Reports) verdict(share Range, full, served bool) Verdict {
	switch {
	case share.Low > over && !served:
		return Over
	case share.Low >= detect.SaturatedFrom && full:
		return AtLimit
	case full:
		return PartitionFull
	case share.Low > over:
		return OverNotThrottled
	case share.Low > r.Warning:
		return Near
	case share.High > over:
		return Possible
	case share.High > r.Warning:
		return PossiblyNear
	}
	return NotOver
}

// keyRange returns CloudWatch's count of requests throttled because of a key range in a
// minute.
func keyRange(m corroboration.Minute) float64 {
	return m.Metrics[corroboration.WriteKeyRangeThrottles] + m.Metrics[corroboration.ReadKeyRangeThrottles]
}

// addThrottled adds a rule's report of the key's throttled requests.
func (k *Key) addThrottled(s Series, table map[int64]corroboration.Minute) {
	full, assessed := 0, true
	var writes, reads bool
	for _, p := range s.Points {
		if p.Value <= 0 {
			continue
		}
		k.Throttled += int64(p.Value)
		k.ThrottledMinutes++
		m, known := table[p.At.Unix()]
		assessed = assessed && known
		if keyRange(m) > 0 {
			full++
		}
		writes = writes || m.Metrics[corroboration.WriteKeyRangeThrottles] > 0
		reads = reads || m.Metrics[corroboration.ReadKeyRangeThrottles] > 0
		if k.ThrottledFirst == nil || p.At.Before(*k.ThrottledFirst) {
			k.ThrottledFirst = &p.At
		}
		if k.ThrottledLast == nil || p.At.After(*k.ThrottledLast) {
			k.ThrottledLast = &p.At
		}
	}
	if k.ThrottledMinutes > 0 && assessed {
		k.KeyRange = &full
	}
	if writes {
		k.KeyRangeOf = append(k.KeyRangeOf, "write")
	}
	if reads {
		k.KeyRangeOf = append(k.KeyRangeOf, "read")
	}
}

// throttledIn returns the minutes with throttled requests of a key.
func throttledIn(all []Series, key Series) map[int64]bool {
	in := make(map[int64]bool)
	for _, s := range all {
		if s.id() != key.id() {
			continue
		}
		for _, p := range s.Points {
			in[p.At.Unix()] = p.Value > 0
		}
	}
	return in
}

// rate sets the severities and Why.
func (k *Key) rate() {
	if k.Throttled > 0 && (k.Verdict == NotOver || k.Verdict == PossiblyNear) {
		k.Verdict = Throttled
	}
	k.Severity, k.Worst = detect.Info, detect.Info
	switch {
	case k.Verdict == Over || k.Verdict == AtLimit:
		k.Severity = detect.Critical
	case k.Verdict == OverNotThrottled || k.Verdict == Near || k.Throttled > 0:
		k.Severity = detect.Warning
	}
	switch {
	case k.Severity == detect.Critical, k.Verdict == PartitionFull, k.Full() > 0, k.PossibleMinutes > 0 && k.refused:
		k.Worst = detect.Critical
	case k.Severity == detect.Warning, k.Verdict == Possible, k.Verdict == PossiblyNear:
		k.Worst = detect.Warning
	}
	k.Why = k.explain()
}

// Full returns the number of minutes with throttled requests of the key and throttling
// because of a key range by CloudWatch; 0 if unknown.
func (k *Key) Full() int {
	if k.KeyRange == nil {
		return 0
	}
	return *k.KeyRange
}

// highest returns the most that the key can have of a limit.
func (k *Key) highest() float64 {
	if k.Bounds == nil {
		return 0
	}
	return k.shares(*k.Value).High
}

// id identifies a series' key.
func (s Series) id() string { return strings.Join(s.Keys, "\x00") }

// key returns the series' key, without a verdict. A rule of items has the sort key behind
// the partition key.
func (s Series) key() Key {
	k := Key{KeyRangeOf: []string{}}
	if len(s.Keys) > 0 {
		k.Key = s.Keys[0]
	}
	if len(s.Keys) > 1 {
		k.SortKey = new(strings.Join(s.Keys[1:], ","))
	}
	return k
}
