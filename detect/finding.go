package detect

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Kind is what a finding is about.
type Kind string

// The kinds.
const (
	// HotKeyWrite is a key whose writes near or pass a partition's limit.
	HotKeyWrite Kind = "hot_key_write"
	// HotKeyRead is a key whose reads near or pass a partition's limit.
	HotKeyRead Kind = "hot_key_read"
	// HotGSIKey is a key of an index whose writes near or pass a partition's
	// limit. It throttles the writes of the table itself, whose own keys may all
	// be cool.
	HotGSIKey Kind = "hot_gsi_key"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{HotKeyWrite, HotKeyRead, HotGSIKey} }

// Severity is of the load, the worst of the episode.
type Severity string

// The severities, the worst first.
const (
	// Critical says that some second's lower bound is above the limit, or that
	// the key is saturated.
	Critical Severity = "critical"
	// Warning says that some second's lower bound is above the policy's share
	// of the limit.
	Warning Severity = "warning"
	// Info says that it is worth knowing. It never pages.
	Info Severity = "info"
)

// State is of time.
type State string

// The states, in the order in which a finding passes them. Only Firing pages.
const (
	Pending  State = "pending"
	Firing   State = "firing"
	Resolved State = "resolved"
)

// Reason says why the table will not heal itself.
type Reason string

// The reasons.
const (
	// RollingKey says that the key is named after the day or hour in which it is
	// hot: by the time DynamoDB has split its partition, the next one is hot.
	RollingKey Reason = "ROLLING_KEY"
	// Undetermined says that the samples do not tell.
	Undetermined Reason = "UNDETERMINED"
)

// Reasons lists every reason.
func Reasons() []Reason { return []Reason{RollingKey, Undetermined} }

// Figure is an amount a second, in units, with its bounds: the truth lies
// between Low and High, for certain where all requests were seen and with 95 %
// where they were sampled.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Loads are write and read units a second.
type Loads struct {
	WCU Figure `json:"wcu"`
	RCU Figure `json:"rcu"`
}

// Peak is the highest second.
type Peak struct {
	Loads
	// At is the second in which the load that the finding is about was highest.
	At time.Time `json:"at"`
}

// Consumed is what got through in the peak's second, in units.
type Consumed struct {
	WCU float64 `json:"wcu"`
	RCU float64 `json:"rcu"`
}

// Step is one piece of advice, with its arithmetic.
type Step struct {
	// Action is one word for programs: shard, cache, capacity.
	Action string `json:"action"`
	// Text says what to do, and why, with the numbers of the case at hand.
	Text string `json:"text"`
}

// Gap is a stretch of a source that was not counted while the finding was made.
type Gap struct {
	Source    string    `json:"source"`
	Partition string    `json:"partition"`
	From      string    `json:"from"`
	To        string    `json:"to"`
	Since     time.Time `json:"since"`
	Until     time.Time `json:"until"`
	Reason    string    `json:"reason"`
}

// Finding is one verdict: one kind, one target. Its JSON form is the one that
// analyze, the API, the webhook and the reports share.
type Finding struct {
	// Fingerprint identifies kind and target, for ever.
	Fingerprint string `json:"fingerprint"`
	Kind        Kind   `json:"kind"`
	Table       string `json:"table"`
	// Index is empty for the table itself.
	Index string `json:"index"`
	// Key is the partition key's text, KeyType its type: S, N, B, or a letter
	// an attribute.
	Key      string   `json:"key"`
	KeyType  string   `json:"key_type"`
	Severity Severity `json:"severity"`
	State    State    `json:"state"`
	// Peak is the highest second of demand, Mean the mean over the seconds in
	// which the key was seen.
	Peak Peak  `json:"peak"`
	Mean Loads `json:"mean"`
	// Consumed is the part of the peak's demand that was not refused.
	Consumed Consumed `json:"consumed"`
	// OverSeconds are proven above the limit, sampled ones with 1 − 10⁻⁶;
	// PossibleSeconds may have been.
	// SaturatedSeconds lie on a flat top just at the limit.
	OverSeconds      int `json:"over_seconds"`
	PossibleSeconds  int `json:"possible_seconds"`
	SaturatedSeconds int `json:"saturated_seconds"`
	// Utilization is the larger of both peaks, as a share of its limit.
	Utilization float64 `json:"utilization"`
	// Share is the key's part of its table's or index's load, 0 to 1.
	Share  float64 `json:"share"`
	Reason Reason  `json:"reason"`
	// Shards is how many shards carry the peak.
	Shards int    `json:"shards"`
	Advice []Step `json:"advice"`
	// FirstSeen and LastSeen are the first and the last second of the episode
	// above the policy's share.
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	// Seconds is in how many seconds of the episode the key was seen, Through
	// the last of them.
	Seconds int64     `json:"seconds"`
	Through time.Time `json:"through"`
	// Coverage is the part of the table's real load that the samples show;
	// null when nothing tells.
	Coverage *float64 `json:"coverage"`
	// Forecast is the growth of the key; null when the data do not say.
	Forecast *Forecast `json:"forecast"`
	// Gaps were open while the finding was made.
	Gaps []Gap `json:"gaps"`
}

// target is a key of a table or index.
type target struct {
	table, index string
	hash         uint64
	key          sample.Key
}

// kinds are the kinds that a target can be of.
func (t target) kinds() [2]Kind {
	if t.index != "" {
		return [2]Kind{HotGSIKey, HotKeyRead}
	}
	return [2]Kind{HotKeyWrite, HotKeyRead}
}

// fingerprint is the same for the same kind and target on every machine. It is
// made of the key itself: hashes change with the seed.
func (t target) fingerprint(k Kind) string {
	h := sha256.New()
	for _, part := range []string{string(k), t.table, t.index, t.key.Type, t.key.Text} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// amount is the part of a load that a kind is about.
func amount(k Kind, l sketch.Load) sample.Milli {
	if k == HotKeyRead {
		return l.Read
	}
	return l.Write
}

func units(m sample.Milli) float64 { return float64(m) / 1000 }
