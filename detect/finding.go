package detect

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Severity is the worst severity of an episode. A resolved episode keeps it.
type Severity string

// The severities, the worst first.
const (
	// Critical means that some second's lower bound is above the limit, or that the
	// partition refuses RefusedShare of the key's requests: no setting helps. For a table as
	// a whole it means an outage, that its partitions throttle for longer than splits take, or
	// that an index holds its writes back.
	Critical Severity = "critical"
	// Warning means that some second's lower bound is above the policy's share of the
	// limit, that fewer requests of a key are refused, or that a table as a whole throttles
	// and a setting mends it.
	Warning Severity = "warning"
	// Info is worth knowing. An info finding is never sent.
	Info Severity = "info"
)

// State is the stage of an episode.
type State string

// The states, in a finding's order. Only Firing alerts on-call.
const (
	Pending  State = "pending"
	Firing   State = "firing"
	Resolved State = "resolved"
)

// Peak is the highest second.
type Peak struct {
	Loads
	// At is the second with the highest load on the finding's side, writes or reads.
	At time.Time `json:"at"`
}

// Consumed is the consumed part of the peak second's load, in units.
type Consumed struct {
	WCU float64 `json:"wcu"`
	RCU float64 `json:"rcu"`
}

// Finding is one verdict: one subject, one case. analyze, the API, the webhook and the
// reports share its JSON form.
type Finding struct {
	// Fingerprint identifies the subject, and never changes. Case is the answer as far as it is
	// known: that of a watched subject can change.
	Fingerprint string  `json:"fingerprint"`
	Case        Case    `json:"case"`
	Subject     Subject `json:"subject"`
	KeyRef
	Severity Severity `json:"severity"`
	State    State    `json:"state"`
	// Lasting is the severity of lasting harm. It is Critical if RefusedShare of the key's
	// requests were refused for long enough, or if HarmSeconds of HarmOf were proven over
	// the limit. It is Warning if fewer were refused, or as many seconds were over the
	// policy's share, and empty otherwise. Only the judge of a key sets it; it is not stored.
	Lasting Severity `json:"-"`
	// Peak is the highest second of requested load, Mean the mean over Seconds.
	Peak Peak  `json:"peak"`
	Mean Loads `json:"mean"`
	// Consumed is the part of the peak's load that was not throttled.
	Consumed Consumed `json:"consumed"`
	// OverSeconds counts seconds proven above the limit, for sampled keys with
	// probability 1 − 10⁻⁶. A finding about several keys counts seconds with any of them
	// above; null if unknown. PossibleSeconds counts seconds that may be above the limit;
	// a flush counts for the seconds that it gathered. SaturatedSeconds counts seconds on
	// a plateau just at the limit, close to each other.
	OverSeconds      *int `json:"over_seconds"`
	PossibleSeconds  int  `json:"possible_seconds"`
	SaturatedSeconds int  `json:"saturated_seconds"`
	// OverIn are the seconds that OverSeconds counts, in order. It covers only the
	// current judge's own time, and is not stored.
	OverIn []Span `json:"-"`
	// Bursts are the newest of these ranges, also of the key's earlier episodes.
	Bursts []Span `json:"-"`
	// Utilization is the larger of both peaks, as a share of its limit. For a sharded key
	// it is the fullest shard's.
	Utilization float64 `json:"utilization"`
	// Share is the key's part of its table's or index's load, 0 to 1.
	Share float64 `json:"share"`
	// Throttling is the throttled part of the load; null if none is known.
	Throttling *Throttling `json:"throttling"`
	// Combined is the highest sum of both utilisations in one second. AWS's texts differ
	// on whether reads and writes share one budget. If Combined is above 1 and
	// Utilization is not, throttling is possible.
	Combined float64 `json:"combined"`
	// Ground is why the table will or will not heal itself, or why that is unknown; empty
	// where nothing can heal.
	Ground Ground `json:"ground"`
	// Title, Summary and Text are for people: one line, the cause, and all answers. They
	// are written when a finding is read, and not stored.
	Title   string `json:"title,omitempty"`
	Summary string `json:"summary,omitempty"`
	Text    string `json:"text,omitempty"`
	// Evidence describes the key's requests; null if unknown.
	Evidence *Evidence `json:"evidence"`
	// TableCallers are the callers of the table's reads or writes, by requests without a key
	// as in OpenTelemetry spans, if the key's own callers are unknown.
	TableCallers []Part `json:"table_callers,omitempty"`
	// Sharding describes the shards of a key that is already sharded; null for others.
	Sharding *Sharded `json:"sharding"`
	// Rolling is the pattern of a key named after a time; null for others.
	Rolling *Rolling `json:"rolling"`
	// Members are the keys behind a finding about several keys; null for others.
	Members *Members `json:"members"`
	// RefusedKeys are the keys with the most throttled load, in findings about a table or
	// index as a whole that throttles requests.
	RefusedKeys []RefusedKey `json:"refused_keys"`
	// Partition is the partition that is full, in its fullest second, if the table's stream
	// shows it; null for others.
	Partition *PartitionLoad `json:"partition"`
	// Ramp is the growth of a table that grows faster than its partitions; null for others.
	Ramp *Ramp `json:"ramp"`
	// Contention is the item whose requests take attempts from each other; null for others.
	Contention *Contention `json:"contention"`
	// Blind are the figures of a finding about Keyheat itself; null for others.
	Blind *Blind `json:"blind"`
	// Healed reports that DynamoDB has split the key: it serves more than one partition
	// can, and refuses nothing. Null for other findings; only a resolved one has it.
	Healed *Healed `json:"healed"`
	// Replication is the writes of other Regions to the key, in findings about writes to
	// a global table; null for others.
	Replication *Replication `json:"replication"`
	// Shards is the number of shards that carry the peak, of a key shard that of the whole key.
	Shards int    `json:"shards"`
	Advice []Step `json:"advice"`
	// FirstSeen and LastSeen are the first and the last second of the episode above the
	// policy's share.
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	// Seconds counts the episode's seconds with the key, Through is the last of them. A
	// sampled key also counts the seconds between, without a sample.
	Seconds int64     `json:"seconds"`
	Through time.Time `json:"through"`
	// Quality is the source and the trustworthiness of the figures.
	Quality Quality `json:"quality"`
	// CloudWatch compares the finding with DynamoDB's own metrics; null if Keyheat does
	// not read CloudWatch for the table.
	CloudWatch *CloudWatch `json:"cloudwatch"`
	// Incident is the ID of the finding's incident.
	Incident string `json:"incident"`
}

// ReadFinding decodes a finding from its JSON form.
func ReadFinding(document []byte) (Finding, error) {
	var f Finding
	if err := json.Unmarshal(document, &f); err != nil {
		return Finding{}, fmt.Errorf("read a finding: %w", err)
	}
	return f, nil
}

// IsCutOff reports whether DynamoDB may have refused more load than the samples show: the
// load reaches a partition's limit, and refused requests are not seen.
func (f *Finding) IsCutOff() bool {
	blind := slices.Contains(f.Quality.CannotSee, BlindThrottled)
	return f.SaturatedSeconds > 0 && f.SecondsOver() == 0 || blind && f.Utilization >= SaturatedFrom
}

// OnlyMean reports whether the samples prove a key's mean, but no second above it. The
// peak then has bounds, and its value is the likely one.
func (f *Finding) OnlyMean() bool {
	peak, mean := SideOf(f, f.Peak.WCU, f.Peak.RCU), SideOf(f, f.Mean.WCU, f.Mean.RCU)
	return !f.Subject.OfTable() && (f.Quality.IsSampled() || f.Quality.Source == SourceMinutes) && mean.Value > 0 && peak.Low <= mean.High
}

// Sharded is a key that is already sharded, judged as one key.
type Sharded struct {
	// Base is the key without its shards, Form an example of their names.
	Base sample.Text `json:"base"`
	Form sample.Text `json:"form"`
	// Shards is the number of existing shards. Needed is the number that carries the
	// peak.
	Shards int `json:"shards"`
	Needed int `json:"needed"`
	// Deviation is the largest difference of a shard's load from the mean of all, as a
	// share of the mean. Hottest is the shard with most load.
	Deviation float64     `json:"deviation"`
	Hottest   sample.Text `json:"hottest"`
}

// Pattern names all shards together.
func (s *Sharded) Pattern() sample.Text { return s.Base + " " + s.Form }

// Rolling is a pattern of keys, each named after its hot time.
type Rolling struct {
	// Period is second, minute, hour, day or week. Template is the key with a placeholder
	// for the time.
	Period   string      `json:"period"`
	Template sample.Text `json:"template"`
	// Keys are the hot keys of the pattern, the newest last; empty if the finding is
	// about one key.
	Keys []sample.Text `json:"keys"`
}

// OutlivesSplits reports whether a key is in use for long enough that splits may divide it.
func (r *Rolling) OutlivesSplits() bool { return r.Period == "day" || r.Period == "week" }

// IsPattern reports whether a finding is about a pattern of keys, and not one of its keys.
func (f *Finding) IsPattern() bool { return f.Rolling != nil && f.Subject == SubjectKeys }

// Members are the keys that a finding about several keys rests on.
type Members struct {
	// Count is the number of keys: values of a key design, keys of a moving hot spot, warm
	// keys of a partition, or hot keys that are not followed.
	Count Figure `json:"count"`
	// Keys names at most NamedKeys of them, the hottest or the latest.
	Keys []sample.Text `json:"keys"`
}

// NamedKeys is the most keys that Members names.
const NamedKeys = 5

// NewMembers returns an exact number of keys, and the names of the first NamedKeys.
func NewMembers(count int64, keys []sample.Text) *Members {
	return &Members{Count: ExactFigure(float64(count)), Keys: append([]sample.Text{}, keys[:min(len(keys), NamedKeys)]...)}
}

// Blind are the figures of a finding about samples that Keyheat cannot see. Figures that
// do not apply are zero.
type Blind struct {
	// Behind is the lag of counting in seconds, Records the number of waiting records.
	Behind  float64 `json:"behind_seconds"`
	Records int64   `json:"records"`
	// BadShare is the rejected part of a collector's samples.
	BadShare float64 `json:"bad_share"`
	// Tables is the number of tables and indexes without room, Names some of them, the hosts
	// of the collectors that reject samples, or the partitions that are not read.
	Tables int      `json:"tables"`
	Names  []string `json:"names"`
	// Before and Now are the covered part of the load, before and after it fell.
	Before *Figure `json:"before"`
	Now    *Figure `json:"now"`
}

// Healed is the end of a hot key whose load goes on.
type Healed struct {
	// Since is the first second after the key's last refusal.
	Since time.Time `json:"since"`
	// Load is the mean load served since then, in units a second, when the split was
	// certain. It counts only callers that mark refusals.
	Load float64 `json:"load"`
}

// Throttling is the throttled part of a load over the one time that every page, message and
// API shows: from the first second with throttled requests to the last. It leaves out the
// part of attempts that a retry served.
type Throttling struct {
	// From and To are the first and the last of these seconds.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Units are the throttled units, Share their part of the units that were requested from
	// From to To. For a table or index as a whole Share is of the requests. ShareLow and
	// ShareHigh are its 95% interval: Share itself if all requests were seen.
	Units     float64 `json:"units"`
	Share     float64 `json:"share"`
	ShareLow  float64 `json:"share_low"`
	ShareHigh float64 `json:"share_high"`
	// Unit is wcu if only writes of a table or index were throttled, and rcu if only reads
	// were. It is empty for both, and for a key. Beside reads, Share is a share of the write
	// units if Unit is wcu.
	Unit string `json:"unit,omitempty"`
}

// JoinThrottling returns the throttling of several findings together; nil if there is none.
func JoinThrottling(found []*Finding) (all *Throttling) {
	requested, below, above := 0.0, 0.0, 0.0
	for _, f := range found {
		t := f.Throttling
		if t == nil {
			continue
		}
		if all == nil {
			all = &Throttling{From: t.From, To: t.To}
		}
		if t.From.Before(all.From) {
			all.From = t.From
		}
		if t.To.After(all.To) {
			all.To = t.To
		}
		all.Units += t.Units
		of := Ratio(t.Units, t.Share)
		requested += of
		below, above = math.Hypot(below, of*(t.Share-t.ShareLow)), math.Hypot(above, of*(t.ShareHigh-t.Share))
	}
	if all != nil {
		all.Share = Ratio(all.Units, requested)
		all.ShareLow, all.ShareHigh = max(0, all.Share-Ratio(below, requested)), min(1, all.Share+Ratio(above, requested))
	}
	return all
}

// Ramp is a load beyond what an on-demand table or index serves at once.
type Ramp struct {
	// Unit is wcu or rcu. Requested is the highest second, Previous the highest one before,
	// and Serves the load that it serves at once; all in units a second.
	Unit      string  `json:"unit"`
	Requested float64 `json:"requested"`
	Previous  float64 `json:"previous"`
	Serves    float64 `json:"serves"`
}

// Replication describes the part of a global table's other Regions in a finding about
// writes. Every write is replicated, and loads the same key in each Region.
type Replication struct {
	// Regions are the Regions of all replicas, in order, including the finding's own.
	Regions []string `json:"regions"`
	// WCU is the seen part of the peak's write units a second that other Regions wrote: of a
	// sampled peak by their part of all writes.
	// It is 0 also if a stream's own records contain it.
	WCU float64 `json:"wcu"`
	// Writer is the other Region that writes most of it, and Callers are the callers there, the
	// busiest first, with their parts of the load there. They are empty unless WrittenElsewhere.
	Writer  string `json:"writer,omitempty"`
	Callers []Part `json:"callers,omitempty"`
}

// ownMost is the own Region's part of a load below which mostly other Regions write it: less than
// half, as samples of two Regions that write alike show either of them first.
const ownMost = 0.4

// WrittenElsewhere reports whether a load of writes mostly comes from other Regions.
func (f *Finding) WrittenElsewhere() bool { return f.OwnShare() < ownMost }

// OwnShare returns the part of the peak that the finding's own Region requested. It is
// below 1 only for replicated writes.
func (f *Finding) OwnShare() float64 {
	if f.Replication == nil || f.Peak.WCU.Value <= 0 {
		return 1
	}
	return max(0, 1-f.Replication.WCU/f.Peak.WCU.Value)
}
