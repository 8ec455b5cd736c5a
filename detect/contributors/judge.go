package contributors

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
)

// Verdict is what minutes say of a key.
type Verdict string

// The verdicts, the worst first. None of them is health.
const (
	// Over means that the mean of a minute is above a limit, whatever its value is made of,
	// and that requests were throttled in that minute because of a key range, or that it is
	// not known whether some were.
	Over Verdict = "over"
	// AtLimit means that the mean of a minute is proven to be all that a partition serves,
	// but for the rest that detect.SaturatedFrom leaves, that requests of the key were
	// throttled in that minute, and some because of a key range.
	AtLimit Verdict = "at_limit"
	// PartitionFull means that requests of the key were throttled in a minute in which some
	// were because of a key range. That the key's own load fills the partition is not proven.
	PartitionFull Verdict = "partition_full"
	// OverNotThrottled means that the mean of a minute is above a limit, and that no request of
	// the key was throttled because of a key range in any such minute: values are approximate, and the
	// items of a key may be on several partitions.
	OverNotThrottled Verdict = "over_not_throttled"
	// Near means that the mean of a minute is proven above the policy's share of a limit.
	Near Verdict = "near"
	// Possible means that the mean of a minute may be above a limit: what it is made of
	// does not follow.
	Possible Verdict = "possible"
	// PossiblyNear means that the mean of a minute may be above the policy's share of a
	// limit, and is not above the limit.
	PossiblyNear Verdict = "possibly_near"
	// Throttled means that requests of the key were throttled, none of them in a minute in
	// which CloudWatch tells of a full partition, and that its load is not near a limit.
	Throttled Verdict = "throttled"
	// NotOver means that no minute's mean is above a limit. Single seconds may be.
	NotOver Verdict = "not_over_in_minutes"
	// NotCounted means that the key's load was not reported, only what was throttled.
	NotCounted Verdict = "not_counted"
)

var verdicts = []Verdict{Over, AtLimit, PartitionFull, OverNotThrottled, Near, Possible, Throttled, PossiblyNear, NotOver, NotCounted}

// rank orders verdicts, the worst first.
func (v Verdict) rank() int { return slices.Index(verdicts, v) }

// Key is the verdict on one key, or on one item.
type Key struct {
	Key string `json:"key"`
	// SortKey is that of an item; nil of a partition key.
	SortKey  *string         `json:"sort_key"`
	Verdict  Verdict         `json:"verdict"`
	Severity detect.Severity `json:"severity"`
	// Worst is the most that Severity could be if all were known that the reports leave open.
	Worst detect.Severity `json:"possible_severity"`
	// Minute is the one that the verdict rests on, Value what Contributor Insights counted
	// in it, 3W + R, and Bounds what that can be made of, which are left out where the
	// key's load was not reported; the others are null then.
	Minute *time.Time `json:"minute"`
	Value  *float64   `json:"value"`
	*Bounds
	// Minutes is in how many minutes its load was reported; in OverMinutes of them it is
	// above a limit whatever it is made of, and in PossibleMinutes it may be.
	Minutes         int `json:"minutes"`
	OverMinutes     int `json:"over_minutes"`
	PossibleMinutes int `json:"possible_minutes"`
	// Throttled are the requests that were throttled, retries among them, in
	// ThrottledMinutes minutes from ThrottledFirst to ThrottledLast; null where none was.
	Throttled        int64      `json:"throttled"`
	ThrottledMinutes int        `json:"throttled_minutes"`
	ThrottledFirst   *time.Time `json:"throttled_first"`
	ThrottledLast    *time.Time `json:"throttled_last"`
	// KeyRange is in how many of those minutes CloudWatch counts requests that were
	// throttled because of a key range: some partition was full. Null where nothing was
	// throttled, or CloudWatch says nothing of one of those minutes.
	KeyRange *int `json:"key_range_minutes"`
	// KeyRangeOf lists the kinds, "write" and "read", of requests to the table, and not only
	// of this key, that CloudWatch counts as throttled because of a key range in these minutes.
	KeyRangeOf []string `json:"key_range_of"`
	// Items is how many of the key's items were reported in Minute: a report lists 25 of all
	// keys. LargestItem is what the largest of them had of Value. Both are null where none
	// was, and in verdicts on items.
	Items       *int     `json:"items"`
	LargestItem *float64 `json:"largest_item"`
	// Why says it in sentences.
	Why string `json:"why"`
	// First says what to do first, and what the reports do not tell that would decide; empty
	// of items, and where nothing is to be done.
	First string `json:"first"`

	// refused reports that in some minute in which the key is or may be above a limit requests
	// were throttled because of a key range, or may have been.
	refused bool
	// whole reports that the table's own metrics of Minute are known.
	whole bool
}

// Reports are what two rules say, both of partition keys or both of items, beside
// CloudWatch's minutes.
type Reports struct {
	Accessed, Throttled []Series
	// AllThrottled reports that Throttled has every key of which requests were throttled.
	AllThrottled bool
	Minutes      []corroboration.Minute
	// Warning is the share of a limit from which a key is near it.
	Warning float64
}

// Judge returns the verdicts, the worst first. They follow from the reports only.
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

// judge finds the minute that says most of a key.
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

// verdict returns what one minute says. full reports that requests of the key were
// throttled in it, and that a partition was full; served that none of them was throttled
// because of a key range.
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

// keyRange returns how many requests CloudWatch counts that were throttled in a minute
// because of a key range.
func keyRange(m corroboration.Minute) float64 {
	return m.Metrics[corroboration.WriteKeyRangeThrottles] + m.Metrics[corroboration.ReadKeyRangeThrottles]
}

// addThrottled adds what a rule reports of the key's throttled requests.
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

// throttledIn returns the minutes in which requests of a key were throttled.
func throttledIn(all []Series, of Series) map[int64]bool {
	in := make(map[int64]bool)
	for _, s := range all {
		if s.id() != of.id() {
			continue
		}
		for _, p := range s.Points {
			in[p.At.Unix()] = p.Value > 0
		}
	}
	return in
}

// rate sets the severities, and says why.
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
	k.Why = k.why()
}

// Full returns in how many minutes requests of the key were throttled while CloudWatch
// counts some that were because of a key range; 0 where that is not known.
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

// id is a text of its own for each key, whatever is in it.
func (s Series) id() string { return strings.Join(s.Keys, "\x00") }

// key returns the key that a series is of, without a verdict. A rule of items has the
// sort key behind the partition key.
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
