package detect

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Kind is what a finding is about.
type Kind string

// The kinds of a key that is hot.
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

// The kinds of a table or index as a whole. Of these, too, Firing pages.
const (
	// HotPartition is a partition that throttles requests though no key is near a
	// limit: several warm keys share it, or a Scan passes through it.
	HotPartition Kind = "hot_partition"
	// TableStarvation is a table or index that was given too little, by itself
	// or its account. It is not a hot key: capacity helps.
	TableStarvation Kind = "table_starvation"
)

// The kinds of related findings, which describe what is hot or how keys are made.
// Where one is the root of an incident it has the state of what it explains;
// otherwise it stays Pending while it holds.
const (
	// RollingHotKey is a key pattern with a new hot key each day or hour.
	RollingHotKey Kind = "rolling_hot_key"
	// MovingHotSpot is load on one key after another, each for a short time, as of
	// a sorted import: by the time DynamoDB has split one's partition, the next
	// one is hot.
	MovingHotSpot Kind = "moving_hot_spot"
	// LowCardinalityKey is a key design with so few values that they bound the
	// table.
	LowCardinalityKey Kind = "low_cardinality_key"
	// TooFewShards and TooManyShards are a key that is already sharded, judged
	// as the one key that it is; UnevenShards is one whose shards differ.
	TooFewShards  Kind = "too_few_shards"
	TooManyShards Kind = "too_many_shards"
	UnevenShards  Kind = "uneven_shards"
	// LargeItem is a hot key of large items of which writes change little.
	LargeItem Kind = "large_item"
	// SingleCaller is a hot key that one caller alone makes hot, TestKey one
	// that is named like a test.
	SingleCaller Kind = "single_caller"
	TestKey      Kind = "test_key"
	// RetryStorm is a hot key to which one caller sends its requests again and again.
	RetryStorm Kind = "retry_storm"
	// LargeCollection is an item collection of a table with a local secondary
	// index that grows towards 10 GB.
	LargeCollection Kind = "large_collection"
	// TooManyHotKeys is a table or index with more hot keys than are followed.
	TooManyHotKeys Kind = "too_many_hot_keys"
	// UnseenKeys is a table or index with more load than a partition serves, of which a key
	// without a finding may have as much: whether one is hot is unknown.
	UnseenKeys Kind = "unseen_keys"
	// CoverageFell is a table or index of which the samples show a smaller part
	// than they did, by CloudWatch.
	CoverageFell Kind = "coverage_fell"
)

// The kinds of Keyheat's own health. They are about no table, and do fire: what cannot
// be seen is not calm.
const (
	// CollectionStopped means that no collector attends, or that event time stands
	// still while records wait.
	CollectionStopped Kind = "collection_stopped"
	// CollectionLags means that what is counted is far behind the clock.
	CollectionLags Kind = "collection_lags"
	// BadSamples means that a collector rejects a part of the samples.
	BadSamples Kind = "bad_samples"
	// TablesRefused means that a collector has no room for tables.
	TablesRefused Kind = "tables_refused"
	// SamplesLost means that there is a new gap: samples that are never counted.
	SamplesLost Kind = "samples_lost"
)

// PipelineKinds are the kinds of Keyheat's own health.
func PipelineKinds() []Kind {
	return []Kind{CollectionStopped, CollectionLags, BadSamples, TablesRefused, SamplesLost}
}

// OfPipeline reports whether a kind is about Keyheat itself, and not about a table.
func (k Kind) OfPipeline() bool { return slices.Contains(PipelineKinds(), k) }

// OfTable reports whether a kind is about a table or index as a whole.
func (k Kind) OfTable() bool { return k == HotPartition || k == TableStarvation }

// OfKey reports whether a kind is about one key's own load.
func (k Kind) OfKey() bool { return k == HotKeyWrite || k == HotKeyRead || k == HotGSIKey }

// Severity is the worst of an episode; it says nothing of whether it is over.
type Severity string

// The severities, the worst first.
const (
	// Critical means that some second's lower bound is above the limit, or that
	// the key is saturated: requests are refused that no setting brings back. Of a
	// table as a whole it means that its partitions throttle for longer than splits
	// take, or that an index holds its writes back.
	Critical Severity = "critical"
	// Warning means that some second's lower bound is above the policy's share
	// of the limit, or that a table as a whole throttles, which a setting mends.
	Warning Severity = "warning"
	// Info means that it is worth knowing. It never pages.
	Info Severity = "info"
)

// State is how far an episode has come.
type State string

// The states, in the order in which a finding passes them. Only Firing pages.
const (
	Pending  State = "pending"
	Firing   State = "firing"
	Resolved State = "resolved"
)

// Diagnosis names why adaptive capacity will not help.
type Diagnosis string

// The diagnoses.
const (
	// HotItem means that one item alone has more than a partition serves: it is held
	// to that for ever, and no split helps it.
	HotItem Diagnosis = "HOT_ITEM"
	// RollingKey means that the key is named after the time in which it is
	// hot: by the time DynamoDB has split its partition, the next one is hot.
	RollingKey Diagnosis = "ROLLING_KEY"
	// LSIBlocked means that the table has a local secondary index: DynamoDB never
	// splits an item collection of such a table.
	LSIBlocked Diagnosis = "LSI_BLOCKED"
	// MonotonicSortKey means that the load follows the sort key, rising or falling: a
	// split leaves all of what comes next on one side.
	MonotonicSortKey Diagnosis = "MONOTONIC_SORT_KEY"
	// Scanned means that Scans make the load: they go on to the next partition
	// before DynamoDB splits one.
	Scanned Diagnosis = "SCAN"
	// MovingLoad means that the load goes from key to key, or over the sort keys of
	// one, faster than DynamoDB splits partitions.
	MovingLoad Diagnosis = "MOVING_LOAD"
	// Splittable means that splits would have divided the load of the last minutes
	// over partitions that serve it: adaptive capacity can, after some minutes.
	Splittable Diagnosis = "SPLITTABLE"
	// Starved means that no partition is hot: the table has too little capacity.
	Starved Diagnosis = "STARVED"
	// Undetermined means that the samples do not show it.
	Undetermined Diagnosis = "UNDETERMINED"
)

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

// Finding is one verdict: one kind, one target. Its JSON form is the one that
// analyze, the API, the webhook and the reports share.
type Finding struct {
	// Fingerprint identifies kind and target, for ever.
	Fingerprint string `json:"fingerprint"`
	Kind        Kind   `json:"kind"`
	KeyRef
	Severity Severity `json:"severity"`
	State    State    `json:"state"`
	// Lasting is how severe it is by what lasted: Critical where the key's requests were
	// refused in FireSeconds of FireOf seconds, or HarmSeconds of HarmOf were proven over
	// the limit; Warning where so many were over the policy's share; empty otherwise.
	// It is known of a key, while it is judged, and not stored.
	Lasting Severity `json:"-"`
	// Peak is the highest second of demand, Mean the mean over Seconds.
	Peak Peak  `json:"peak"`
	Mean Loads `json:"mean"`
	// Consumed is the part of the peak's demand that was not throttled.
	Consumed Consumed `json:"consumed"`
	// OverSeconds are proven above the limit, sampled ones with 1 − 10⁻⁶; of a finding
	// about several keys those in which any of them was, null where that is not known.
	// PossibleSeconds may have been; what was flushed stands for those in which it
	// gathered.
	// SaturatedSeconds lie on a plateau just at the limit, of several that follow one
	// another or nearly so.
	OverSeconds      *int `json:"over_seconds"`
	PossibleSeconds  int  `json:"possible_seconds"`
	SaturatedSeconds int  `json:"saturated_seconds"`
	// OverIn are the seconds that OverSeconds counts, in order, as far as they are known:
	// while the finding is judged, and of a judge's own time. They are not stored.
	OverIn []Span `json:"-"`
	// Utilization is the larger of both peaks, as a share of its limit; of a key that is
	// sharded that of its fullest shard.
	Utilization float64 `json:"utilization"`
	// Share is the key's part of its table's or index's load, 0 to 1.
	Share float64 `json:"share"`
	// Combined is the highest sum of both utilisations in one second. AWS's texts
	// differ on whether reads and writes share one budget; where this is above 1
	// and Utilization is not, throttling is possible.
	Combined float64 `json:"combined"`
	// Diagnosis says why the table will not heal itself, in a word; Why in
	// sentences, with what they rest on.
	Reason Diagnosis `json:"reason"`
	Why    string    `json:"why"`
	// Observed are those sentences of Why that hold whatever the reason is, such as what was
	// throttled and how requests were sampled, each behind a space. They are known of a key,
	// while it is judged, and not stored.
	Observed string `json:"-"`
	// Evidence is what the requests were like; null when that is not known.
	Evidence *Evidence `json:"evidence"`
	// Sharding is how the key is sharded already; null when it is not.
	Sharding *Sharded `json:"sharding"`
	// Rolling is the pattern of a key that is named after a time; null of others.
	Rolling *Rolling `json:"rolling"`
	// Replication is what other Regions write of the key: of findings about writes to a
	// global table, null of others.
	Replication *Replication `json:"replication"`
	// Shards is how many shards carry the peak.
	Shards int    `json:"shards"`
	Advice []Step `json:"advice"`
	// FirstSeen and LastSeen are the first and the last second of the episode
	// above the policy's share.
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	// Seconds is in how many seconds of the episode the key was seen, Through
	// the last of them. Of a sampled key also those between count in which no sample
	// shows it.
	Seconds int64     `json:"seconds"`
	Through time.Time `json:"through"`
	// Forecast is the growth of the key; null when the data do not say.
	Forecast *Forecast `json:"forecast"`
	// Quality is what the figures rest on, and how far they can be trusted.
	Quality Quality `json:"quality"`
	// CloudWatch is what DynamoDB's own metrics say of it; null where CloudWatch is
	// not read for the table.
	CloudWatch *CloudWatch `json:"cloudwatch"`
	// Incident is the ID of the incident that the finding is evidence of.
	Incident string `json:"incident"`
}

// NewFinding returns a finding about a target, or a key of it, that says nothing
// yet.
func NewFinding(k Kind, t Target, key sample.Key) Finding {
	f := Finding{
		Kind: k, KeyRef: KeyRef{Target: t, Key: key.Text, KeyType: key.Type},
		State: Pending, Quality: NewQuality(SourceRequests),
	}
	f.identify()
	return f
}

// ReadFinding reads the JSON form of a finding.
func ReadFinding(document []byte) (f Finding, err error) {
	if err := json.Unmarshal(document, &f); err != nil {
		return Finding{}, fmt.Errorf("read a finding: %w", err)
	}
	return f, nil
}

// identify names the finding, and its incident, by what it is about.
func (f *Finding) identify() {
	f.Fingerprint = fingerprint(f.Kind, f.KeyRef)
	f.BelongTo(causeOf[f.Kind], f.causeKey())
}

// fingerprint returns the name of a kind of finding about a key or target: the
// same on every machine, since it is made of the key itself and not of its hash. An
// account and Region that are not known have no part in it.
func fingerprint(k Kind, of KeyRef) string {
	parts := []string{string(k), of.Table, of.Index, of.KeyType, of.Key}
	if of.Account != "" || of.Region != "" {
		parts = append(parts, of.Account, of.Region)
	}
	return digest(parts...)
}

// FirstFix returns the first piece of advice that changes something; empty without one.
// That capacity does not help is said of hot keys, in findings of before the ledger
// first of all, and is no fix; of a table that was given too little it is the fix.
func (f *Finding) FirstFix() string {
	for _, step := range f.Advice {
		if step.Action != ActionCapacity || f.Kind == TableStarvation {
			return step.Text
		}
	}
	return ""
}

// numbered are the actions whose steps make so many shards, or parts, as Finding.Shards says.
var numbered = []string{ActionShard, ActionSplit, ActionRename, ActionMigrate}

// AdvisesShards reports whether what is advised makes Shards of the key, or keeps one: of
// what shards do not help, or less suffices for, the number says nothing.
func (f *Finding) AdvisesShards() bool {
	if f.Kind == LowCardinalityKey {
		return f.Index != "" // a table's new key is made of something else
	}
	if f.Kind == UnevenShards {
		return false // there are enough, if they are even
	}
	return slices.ContainsFunc(f.Advice, func(s Step) bool { return s.Effort != "" && slices.Contains(numbered, s.Action) })
}

// OnlyMean reports whether the samples of a key tell its mean and not its highest second:
// none is proven to have more than the mean. Peak has bounds for it then, and as its value
// what is likely.
func (f *Finding) OnlyMean() bool {
	peak, mean := Side(f.Kind, f.Peak.WCU, f.Peak.RCU), Side(f.Kind, f.Mean.WCU, f.Mean.RCU)
	return f.Kind.OfKey() && f.Quality.IsSampled() && mean.Value > 0 && peak.Low <= mean.High
}

// ShardRange returns the fewest and the most shards that the bounds of the peak leave open.
func (f *Finding) ShardRange(headroom float64) (fewest, most int) {
	peak, limit := Side(f.Kind, f.Peak.WCU, f.Peak.RCU), Limit(f.Kind)
	return Shards(Milli(peak.Low), limit, headroom), Shards(Milli(peak.High), limit, headroom)
}

// Sharded is a key that is sharded already, judged as one.
type Sharded struct {
	// Base is the key without its shards, Form an example of their names.
	Base string `json:"base"`
	Form string `json:"form"`
	// Shards is how many there are, Needed how many carry the peak.
	Shards int `json:"shards"`
	Needed int `json:"needed"`
	// Deviation is the largest difference of a shard's load from the mean of all,
	// as a share of the mean; Hottest is the shard with most load.
	Deviation float64 `json:"deviation"`
	Hottest   string  `json:"hottest"`
}

// Pattern names all shards together.
func (s *Sharded) Pattern() string { return s.Base + " " + s.Form }

// Rolling is a key pattern that holds the time in which its keys are hot.
type Rolling struct {
	// Period is second, minute, hour, day or week, Template the key with a placeholder for the time.
	Period   string `json:"period"`
	Template string `json:"template"`
	// Keys are the keys of the pattern that were hot, the newest last; empty
	// where the finding is about one key.
	Keys []string `json:"keys"`
}

// Replication is what a global table's other Regions have to do with a finding about
// writes. Every write is replicated, and loads the same key in each Region.
type Replication struct {
	// Regions are those of all replicas, in order, the finding's own among them.
	Regions []string `json:"regions"`
	// WCU is the part of the peak's write units a second that other Regions wrote, as
	// far as their requests were seen; 0 also where a stream's own records have it.
	WCU float64 `json:"wcu"`
}

// OwnShare returns the part of the peak that the finding's own Region asked for: 1 but
// for writes that were replicated to it.
func (f *Finding) OwnShare() float64 {
	if f.Replication == nil || f.Peak.WCU.Value <= 0 {
		return 1
	}
	return max(0, 1-f.Replication.WCU/f.Peak.WCU.Value)
}

// NewRelated returns a finding that is related to another one: of another kind, never
// paging, and resolved when the other is.
func NewRelated(f *Finding, kind Kind, key string) Finding {
	m := *f
	m.Kind, m.Key = kind, key
	m.identify()
	m.Severity, m.State = Info, Pending
	if f.State == Resolved {
		m.State = Resolved
	}
	return m
}
