package detect

import "time"

// Table summarises the observed load of a table or index as a whole.
type Table struct {
	Target
	// Seconds is the number of seconds with load. Resolution is the shortest time with a known
	// load, in seconds: more than 1 if samples are sums over as many.
	Seconds    int64 `json:"seconds"`
	Resolution int64 `json:"resolution"`
	// Requests counts the requests that no sample marks as throttled, or the drawn ones
	// if they are sampled. WCU and RCU are their units. If Throttled is zero, the samples
	// may not record throttling, and some of these requests may have been refused.
	Requests int64   `json:"requests"`
	WCU      float64 `json:"wcu"`
	RCU      float64 `json:"rcu"`
	// Throttled is the throttled load, not included in WCU and RCU.
	Throttled Throttled `json:"throttled"`
	// RefusedKeys are the keys with the most throttled load in the last minute with any,
	// the most throttled first.
	RefusedKeys []RefusedKey `json:"refused_keys"`
	// Unseen is the most load that any key outside the list can have had in one second.
	// Below the limits it proves that no hot key was missed.
	Unseen Unseen `json:"unseen"`
	// Provable is the smallest load of one second that the samples can prove to be above
	// a partition's limit; 0 if all requests are seen. Smaller loads are proven by their
	// mean of 10 or 60 seconds, or are possible.
	Provable Unseen `json:"provable"`
	// View describes the keys; null if they were not counted.
	View *View `json:"view"`
	// Walk is load that walks through the key space; null for none in the last three minutes.
	Walk *Walk `json:"walk"`
	// LateSeconds is how late its samples come: how long after their second counted as
	// complete; null if unknown, as of a file.
	LateSeconds *int64 `json:"late_seconds,omitempty"`
	// CloudWatch compares the table with DynamoDB's own metrics; null if Keyheat does not
	// read them.
	CloudWatch *TableCloudWatch `json:"cloudwatch"`
}

// presentFor is how long after its newest second a stored table, written once a minute,
// describes the present.
const presentFor = 10 * time.Minute

// DropPast removes from a stored table what was said of its present then: nothing replaces it
// while samples stop.
func (t *Table) DropPast(now time.Time) {
	if t.Walk != nil && now.Sub(t.Walk.Through) > presentFor {
		t.Walk = nil
	}
	if t.View != nil && now.Sub(t.View.To) > presentFor {
		t.RefusedKeys = []RefusedKey{}
	}
}

// IsSampled reports whether samples of the table or index stand for several requests each.
func (t *Table) IsSampled() bool { return t.Provable.WCU > 0 || t.Provable.RCU > 0 }

// Walk is load that walks through a table's key space, as a copy in the order of a Scan does: it
// fills one partition after another.
type Walk struct {
	From    time.Time `json:"from"`
	Through time.Time `json:"through"`
	// Share is the walking load in its highest second, as a share of one partition's limit. Several
	// workers may divide it among as many partitions.
	Share float64 `json:"share"`
}

// Throttled is the throttled load of a table or index.
type Throttled struct {
	// Requests counts attempts, including the SDKs' retries.
	Requests int64 `json:"requests"`
	// WCU and RCU are the requested units. A request counts once if its producer marks
	// its attempts as one request.
	WCU float64 `json:"wcu"`
	RCU float64 `json:"rcu"`
}

// TableCloudWatch compares a table or index with CloudWatch.
type TableCloudWatch struct {
	// Unread is the reason for no comparison, Message CloudWatch's own error; both empty
	// with one.
	Unread  Unread `json:"unread"`
	Message string `json:"message"`
	// Through is the end of the last minute that was read; null for none.
	Through *time.Time `json:"through"`
	// Write and Read are the parts of the real load that the samples show, 1 for all;
	// null if unknown.
	Write *Figure `json:"write"`
	Read  *Figure `json:"read"`
}

// Unseen is a bound in units a second.
type Unseen struct {
	WCU float64 `json:"wcu"`
	RCU float64 `json:"rcu"`
}
