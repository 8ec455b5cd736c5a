package detect

import "time"

// Evidence is what the requests of a key were like in its hottest seconds, as
// far as they were gathered; of a load that goes from key to key, those of its hottest
// key. Shares are of the load, 0 to 1.
type Evidence struct {
	// Seconds is how many it rests on. Of a key's requests in them it looks at a uniform
	// sample: Records is how many of equal weight that is worth (Kish's effective sample
	// size), all where they are few. Of a table or index as a whole it is how many requests
	// were seen.
	Seconds int   `json:"seconds"`
	Records int64 `json:"records"`
	// Operations are ordered by their share.
	Operations []Operation `json:"operations"`
	// Refused counts throttled requests by cause.
	Refused map[string]int64 `json:"refused"`
	// StrongReads is the share of the read units that were read strongly
	// consistently or in transactions.
	StrongReads float64 `json:"strong_reads"`
	// SortKeys is null when no request had a sort key.
	SortKeys *SortKeys `json:"sort_keys"`
	// Split is whether DynamoDB's splits would help; null when nothing was seen of it,
	// as of an episode that another judge saw.
	Split *Split `json:"split"`
	// Items are the hottest sort keys, Callers the busiest callers.
	Items   []Part `json:"items"`
	Callers []Part `json:"callers"`
	// ItemBytes is the mean size of an item, 0 when unknown. ChangedShare is the
	// part of the items' bytes that writes changed, Attributes the attributes
	// that they did; both need whole images, and are null and empty without them.
	ItemBytes    float64  `json:"item_bytes"`
	ChangedShare *float64 `json:"changed_share"`
	Attributes   []Part   `json:"attributes"`
	// GrowthBytes is by how many bytes a second the item collection grew; null
	// without images.
	GrowthBytes *float64 `json:"growth_bytes"`
	// Retries is how the key's calls were sent in its last minute, and what retries cost
	// its callers; null where no producer tells.
	Retries *Retries `json:"retries"`
}

// ThrottledRequests returns how many throttled requests there are among those that were looked
// at. The receiver may be nil.
func (e *Evidence) ThrottledRequests() (n int64) {
	if e == nil {
		return 0
	}
	for _, of := range e.Refused {
		n += of
	}
	return n
}

// Retries is how the calls of a key were sent in some seconds.
type Retries struct {
	// From and To bound the seconds, To exclusive; of Seconds of them something is known.
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Seconds int       `json:"seconds"`
	SentCalls
	// Waited is for how many seconds callers waited in retries, Failed how many calls
	// failed for good: the toll.
	Waited Figure `json:"waited_seconds"`
	Failed Figure `json:"failed"`
	// Estimated reports that calls were sampled: all amounts are then estimates, and
	// these two have their 95% intervals. Partial reports that some requests do not tell
	// how they were sent: the amounts are then lower bounds.
	Estimated bool `json:"estimated"`
	Partial   bool `json:"partial"`
	// Callers are those of the most refused attempts, in order.
	Callers []CallerRetries `json:"callers"`
}

// FailedShare returns the share of the calls of the finding's key in its last minute that
// failed for good; false where none is known to have.
func (f *Finding) FailedShare() (float64, bool) {
	if f.Evidence == nil || f.Evidence.Retries == nil || f.Evidence.Retries.Failed.Value < 1 {
		return 0, false
	}
	r := f.Evidence.Retries
	return min(1, Ratio(r.Failed.Value, r.Calls)), true
}

// SentCalls is how calls were sent.
type SentCalls struct {
	// Calls were made, in so many Attempts. Refused are the attempts after which a call
	// was sent again, or failed for good.
	Calls    float64 `json:"calls"`
	Attempts float64 `json:"attempts"`
	Refused  float64 `json:"refused"`
	// Amplification is how often a call was sent, on average.
	Amplification float64 `json:"amplification"`
}

// Retries returns how many attempts were made beyond the first of each call.
func (s *SentCalls) Retries() float64 { return max(0, s.Attempts-s.Calls) }

// CallerRetries is how one caller of a key sent calls. Its amounts are lower bounds where
// there are more than eight callers.
type CallerRetries struct {
	Caller string `json:"caller"`
	SentCalls
	// Share is the caller's part of all attempts.
	Share  float64 `json:"share"`
	Waited float64 `json:"waited_seconds"`
	Failed float64 `json:"failed"`
}

// Operation is one operation's share of the load. Requests are per second, Units what
// one of them costs on average: read units of a read, write units of a write.
type Operation struct {
	Op       string  `json:"op"`
	Share    float64 `json:"share"`
	Requests float64 `json:"requests"`
	Units    float64 `json:"units"`
}

// SortKeys is what is known of sort keys.
type SortKeys struct {
	// Known is the share of the requests that had one, Distinct how many there were at
	// least in the hottest second, two standard errors below what is estimated. The first
	// requests of a second, until the key has a tenth of a limit, are not looked at.
	Known    float64 `json:"known"`
	Distinct float64 `json:"distinct"`
	// Steps are how often a write's sort key differed from the one before,
	// Rising the share of them that rose.
	Steps  int64   `json:"steps"`
	Rising float64 `json:"rising"`
	// Repeated is the least share of the requests of the hottest second whose sort key
	// an earlier one of that second had.
	Repeated float64 `json:"repeated"`
}

// Part is one item's, caller's or attribute's share of the load: Low decides,
// High is the most that it can be.
type Part struct {
	Text string  `json:"text"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Split is what splits of a hot key's partition would do: where the load of its last
// seconds would have been split, and what the load after that is on the parts.
type Split struct {
	Verdict SplitVerdict `json:"verdict"`
	// Direction is Rising, Falling or Wandering of a load that moves, else empty.
	Direction string `json:"direction"`
	// Seconds is the time that the verdict looks at, Load the mean load in it, and
	// Item what is proven of the heaviest sort key's own, in units a second.
	Seconds int     `json:"seconds"`
	Load    float64 `json:"load"`
	Item    float64 `json:"item"`
	// Splits is how many splits leave Residual units a second on the fullest part, on
	// average, and Refused the share of the load that is then beyond what parts serve.
	Splits   int     `json:"splits"`
	Residual float64 `json:"residual"`
	Refused  float64 `json:"refused"`
	// ResidualLow and ResidualHigh are the least and the most that the fullest part has on
	// average, by where DynamoDB splits: at the median of the load, which the samples leave
	// open a little and which may be a gap, or half-way between the sort keys. Where nothing
	// was split they are Residual.
	ResidualLow  float64 `json:"residual_low"`
	ResidualHigh float64 `json:"residual_high"`
}

// SplitVerdict is whether splits would help.
type SplitVerdict string

// The verdicts.
const (
	// SplitHotItem means that one item alone has more than a partition serves.
	SplitHotItem SplitVerdict = "hot_item"
	// SplitMoving means that the load moves on to one part again.
	SplitMoving SplitVerdict = "moving"
	// SplitBursts means that the load comes in bursts that a part cannot serve either.
	SplitBursts SplitVerdict = "bursts"
	// SplitHelps means that every part would have served its load.
	SplitHelps SplitVerdict = "helps"
	// SplitHidden means that sort keys are hashed, and so have no order.
	SplitHidden SplitVerdict = "hidden"
	// SplitUnknown means that what was seen does not decide it.
	SplitUnknown SplitVerdict = "unknown"
)

// Where a load moves.
const (
	Rising    = "rising"
	Falling   = "falling"
	Wandering = "wandering"
)
