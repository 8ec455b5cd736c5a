package detect

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Evidence describes a key's requests in its hottest seconds. For a load that moves from
// key to key it describes the hottest key. Shares are of the load, 0 to 1.
type Evidence struct {
	// Seconds is the number of seconds with evidence. Records is the number of sampled
	// requests of equal weight that the evidence is worth (Kish's effective sample size),
	// or all requests if there are few. For a table or index as a whole it counts the
	// seen requests.
	Seconds int   `json:"seconds"`
	Records int64 `json:"records"`
	// Operations are ordered by their share, the largest first.
	Operations []Operation `json:"operations"`
	// Refused counts throttled requests by throttle reason.
	Refused map[string]int64 `json:"refused"`
	// StrongReads is the share of the read units read strongly consistently or in
	// transactions.
	StrongReads float64 `json:"strong_reads"`
	// SortKeys is null if no request had a sort key.
	SortKeys *SortKeys `json:"sort_keys"`
	// Split predicts whether DynamoDB's splits would help. It is null without
	// observations, as for an episode that another judge saw.
	Split *Split `json:"split"`
	// Items are the hottest sort keys, Callers the busiest callers: of a table or index as a
	// whole the callers of its refused load, or of its Scans.
	Items   []Part `json:"items"`
	Callers []Part `json:"callers"`
	// ItemBytes is the mean size of an item, 0 if unknown. If no sample carries a size, write
	// units tell the size of large values. ChangedShare is the part of the items' bytes that
	// writes changed, Attributes the changed attributes. Both need whole images, and are null
	// and empty without them.
	ItemBytes    float64  `json:"item_bytes"`
	ChangedShare *float64 `json:"changed_share"`
	Attributes   []Part   `json:"attributes"`
	// GrowthBytes is the growth of the item collection in bytes a second; null without
	// images.
	GrowthBytes *float64 `json:"growth_bytes"`
	// Retries counts the key's calls and their retries in its last minute; null if no
	// producer reports attempts.
	Retries *Retries `json:"retries"`
}

// NewEvidence returns the evidence of throttled requests alone, by throttle reason.
func NewEvidence(refused map[string]int64) *Evidence {
	return &Evidence{Operations: []Operation{}, Refused: refused, Items: []Part{}, Callers: []Part{}, Attributes: []Part{}}
}

// ThrottledRequests returns the number of throttled requests in the evidence. The
// receiver may be nil.
func (e *Evidence) ThrottledRequests() (n int64) {
	if e == nil {
		return 0
	}
	for _, requests := range e.Refused {
		n += requests
	}
	return n
}

// Retries counts the calls of a key, and the cost of their retries, over some seconds.
type Retries struct {
	// From and To bound the time, To exclusive. Seconds counts the seconds in it with
	// reported attempts.
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Seconds int       `json:"seconds"`
	SentCalls
	// Waited is the total time that callers waited in retries, in seconds; from 0 to the
	// longest by AWS's policies if nobody measured it. Failed counts calls that failed after
	// all retries.
	Waited Figure `json:"waited_seconds"`
	Failed Figure `json:"failed"`
	// Estimated reports that calls were sampled: all amounts are estimates, and Waited
	// and Failed have 95% intervals. Partial reports that some requests carry no
	// attempts: the amounts are lower bounds.
	Estimated bool `json:"estimated"`
	Partial   bool `json:"partial"`
	// Callers are the callers with the most retries, in order.
	Callers []CallerRetries `json:"callers"`
}

// FailedShare returns the share of the key's calls in its last minute that failed after
// all retries; false if no call is known to have failed.
func (f *Finding) FailedShare() (float64, bool) {
	if f.Evidence == nil || f.Evidence.Retries == nil || f.Evidence.Retries.Failed.Value < 1 {
		return 0, false
	}
	r := f.Evidence.Retries
	return min(1, Ratio(r.Failed.Value, r.Calls)), true
}

// Resends reports whether refused items of batches may be much of a key's load, and returns the
// served load. DynamoDB returns them as unprocessed, and callers send them again in other calls:
// then one item is refused several times in a second. What callers ask for lies between the
// served load and all of it.
func (f *Finding) Resends() (served float64, may bool) {
	t := f.Throttling
	if !f.Subject.OfKey() || t == nil || t.Share < resentShare || f.Evidence == nil || f.Evidence.Retries != nil {
		return 0, false
	}
	batches := 0.0
	for _, o := range f.Evidence.Operations {
		if o.Op == sample.BatchWriteItem.String() || o.Op == sample.BatchGetItem.String() {
			batches += o.Share
		}
	}
	if f.Quality.IsSampled() { // its highest second is one of luck
		return SideOf(f, f.Mean.WCU.Value, f.Mean.RCU.Value) * (1 - t.Share), batches >= resentShare
	}
	keys := f.Evidence.SortKeys
	return SideOf(f, f.Consumed.WCU, f.Consumed.RCU), batches >= resentShare && (keys == nil || keys.Repeated >= resentShare)
}

// resentShare is the least part of a load that resends change much.
const resentShare = 0.1

// FailsAtOnce reports whether the calls that failed were not sent again.
func (f *Finding) FailsAtOnce() bool {
	if f.Evidence == nil || f.Evidence.Retries == nil {
		return false
	}
	r := f.Evidence.Retries
	return r.Failed.Value >= 1 && r.Attempts >= r.Calls && r.Attempts-r.Calls < fewRetries*r.Failed.Value
}

// fewRetries is the most retries for each failed call of callers that do not retry: one
// caller of many may.
const fewRetries = 0.05

// InReads reports whether a finding is about read units: of a key by its subject, of others
// by the units that were refused or, where none or both were, by the limit of a partition
// that is nearer.
func (f *Finding) InReads() bool {
	if f.Subject.OfKey() {
		return f.Subject == KeyReads
	}
	if t := f.Throttling; t != nil && t.Unit != "" {
		return t.Unit == "rcu"
	}
	if need := f.CapacityNeed(); need != nil {
		return need.Unit == "rcu"
	}
	return f.Peak.RCU.Value/Units(PartitionRead) > f.Peak.WCU.Value/Units(PartitionWrite)
}

// CapacityNeed is the stated capacity that a table or index as a whole lacks, with its need; nil
// if it is unknown.
func (f *Finding) CapacityNeed() *Need {
	if f.Subject != SubjectTable || len(f.Advice) == 0 || f.Advice[0].Fix != FixProvisionedCapacity {
		return nil
	}
	return f.Advice[0].Need
}

// SideOf returns the argument for the side of the load that a finding is about.
func SideOf[T any](f *Finding, write, read T) T {
	if f.InReads() {
		return read
	}
	return write
}

// IsWarm reports whether a key was refused whose samples, now that there are enough, exclude a load
// near the limit: its partition is full, and not by it alone.
func (f *Finding) IsWarm(p Policy) bool {
	most := p.Warning * Units(f.Limit())
	return f.Subject.OfKey() && f.Throttling != nil && f.SecondsOver() == 0 && f.OnlyMean() &&
		SideOf(f, f.Mean.WCU, f.Mean.RCU).High <= most && SideOf(f, f.Peak.WCU, f.Peak.RCU).Low <= most
}

// Limit is a partition's limit for the side of the load that a finding is about.
func (f *Finding) Limit() sample.Milli { return SideOf(f, PartitionWrite, PartitionRead) }

// PredictedSplit returns the prediction of splits; nil without one.
func (f *Finding) PredictedSplit() *Split {
	if f.Evidence == nil {
		return nil
	}
	return f.Evidence.Split
}

// SentCalls counts calls and the attempts that sent them. The reasons of retries are unknown:
// [Evidence.Refused] counts the throttled attempts.
type SentCalls struct {
	// Calls counts calls, Attempts all attempts to send them.
	Calls    float64 `json:"calls"`
	Attempts float64 `json:"attempts"`
	// Amplification is the mean number of attempts a call.
	Amplification float64 `json:"amplification"`
}

// Retries returns the number of attempts beyond the first of each call.
func (s *SentCalls) Retries() float64 { return max(0, s.Attempts-s.Calls) }

// backsOff reports whether callers that waited some seconds for their retries back off
// already, as AWS's SDKs do since November 2026.
func (s *SentCalls) backsOff(waited float64) bool {
	return s.Retries() > 0 && waited >= PatientSeconds*s.Retries()
}

// BackOff reports whether the key's callers back off already. A partial record proves it
// for none.
func (r *Retries) BackOff() bool { return !r.Partial && r.backsOff(r.Waited.Value) }

// BacksOff reports whether the caller backs off already.
func (c *CallerRetries) BacksOff() bool { return c.backsOff(c.Waited) }

// CallerRetries counts one caller's calls to a key. The amounts are lower bounds if there
// are more than eight callers.
type CallerRetries struct {
	Caller sample.Text `json:"caller"`
	SentCalls
	// Share is the caller's part of all attempts.
	Share  float64 `json:"share"`
	Waited float64 `json:"waited_seconds"`
	Failed float64 `json:"failed"`
}

// Operation is one operation's share of the load. Requests are per second. Units is the
// mean cost of a request: read units for a read, write units for a write.
type Operation struct {
	Op       string  `json:"op"`
	Share    float64 `json:"share"`
	Requests float64 `json:"requests"`
	Units    float64 `json:"units"`
}

// SortKeys describes the sort keys of the requests.
type SortKeys struct {
	// Known is the share of requests with a sort key. Distinct is the least number of
	// sort keys in the hottest second: the estimate minus two standard errors. Both leave
	// out the first requests of a second, until the key has a tenth of a limit.
	Known    float64 `json:"known"`
	Distinct float64 `json:"distinct"`
	// Steps counts pairs of successive writes with different sort keys, Rising is the
	// share of pairs that rose.
	Steps  int64   `json:"steps"`
	Rising float64 `json:"rising"`
	// Repeated is the least share of the hottest second's requests that repeat a sort key
	// of that second.
	Repeated float64 `json:"repeated"`
}

// Part is one item's, caller's or attribute's share of the load. Low decides; High is its
// upper bound.
type Part struct {
	Text sample.Text `json:"text"`
	Low  float64     `json:"low"`
	High float64     `json:"high"`
}

// PartsOf returns the shares that callers have of a load, the busiest first.
func PartsOf(callers sketch.Top, load float64) []Part {
	all := []Part{}
	for _, c := range callers.Entries {
		all = append(all, Part{Text: sample.Text(c.Text), Low: min(1, Ratio(float64(c.Weight), load)), High: min(1, Ratio(float64(c.Weight+callers.Missing), load))})
	}
	slices.SortFunc(all, func(a, b Part) int { return cmp.Or(cmp.Compare(b.Low, a.Low), cmp.Compare(a.Text, b.Text)) })
	return all
}

// RefusedKey is one of the keys with the most throttled load of a table or index, in its
// last minute with throttled requests. Where these carry no units, it is one of the keys with
// the most throttled requests.
type RefusedKey struct {
	Key     sample.Text `json:"key"`
	KeyType string      `json:"key_type"`
	// WCU and RCU are its throttled units a second, on average over the minute, with 95%
	// bounds.
	WCU Figure `json:"wcu"`
	RCU Figure `json:"rcu"`
	// Requests is the number of its throttled requests a second, as far as the samples show
	// them.
	Requests float64 `json:"requests"`
	// Share is its part of the throttled load of all keys, or of the throttled requests if
	// these carry no units.
	Share float64 `json:"share"`
	// Callers are the callers of its throttled requests, the busiest first, with their
	// parts; empty if unknown.
	Callers []Part `json:"callers"`
}

// RefusedKeys is the most keys that a finding or a table names as throttled.
const RefusedKeys = 5

// Split predicts the effect of splits of a hot key's partition. It splits the load of the
// key's last seconds, and measures the later load on the parts.
type Split struct {
	Verdict SplitVerdict `json:"verdict"`
	// Direction is Rising, Falling or Wandering for a load that moves, else empty.
	Direction string `json:"direction"`
	// Seconds is the observed time, Load the mean load in it, and Item the proven load of
	// the heaviest sort key, in units a second.
	Seconds int     `json:"seconds"`
	Load    float64 `json:"load"`
	Item    float64 `json:"item"`
	// Splits is the number of splits that leave a mean of Residual units a second on the
	// fullest part. Refused is the share of the load that then exceeds the parts' limits.
	Splits   int     `json:"splits"`
	Residual float64 `json:"residual"`
	Refused  float64 `json:"refused"`
	// ResidualLow and ResidualHigh bound the mean load of the fullest part, over the
	// places where DynamoDB may split. It may split half-way between the sort keys, or at
	// the median of the load. Samples leave the median a little open, and it may be a
	// gap. Without splits both are Residual.
	ResidualLow  float64 `json:"residual_low"`
	ResidualHigh float64 `json:"residual_high"`
}

// SplitVerdict is the predicted effect of splits.
type SplitVerdict string

const (
	// SplitHotItem means that one item alone exceeds a partition's limit.
	SplitHotItem SplitVerdict = "hot_item"
	// SplitMoving means that the load moves on to one part again.
	SplitMoving SplitVerdict = "moving"
	// SplitBursts means that the load comes in bursts that exceed a part's limit too.
	SplitBursts SplitVerdict = "bursts"
	// SplitHelps means that every part would have served its load.
	SplitHelps SplitVerdict = "helps"
	// SplitHidden means that sort keys are hashed, and so have no order.
	SplitHidden SplitVerdict = "hidden"
	// SplitUnknown means that the observations do not decide it.
	SplitUnknown SplitVerdict = "unknown"
)

// Directions of a load that moves over the sort keys.
const (
	Rising    = "rising"
	Falling   = "falling"
	Wandering = "wandering"
)
