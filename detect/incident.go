package detect

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// Cause is what one incident has as its root.
type Cause string

// The causes.
const (
	CauseHotKey            Cause = "hot_key"
	CauseShardedKey        Cause = "sharded_key"
	CauseRollingKey        Cause = "rolling_key"
	CauseMovingHotSpot     Cause = "moving_hot_spot"
	CauseIndexBackPressure Cause = "index_back_pressure"
	CauseSingleCaller      Cause = "single_caller"
	CauseFewValues         Cause = "few_values"
	CauseHotPartition      Cause = "hot_partition"
	CauseStarvation        Cause = "starvation"
	CauseRetryStorm        Cause = "retry_storm"
	// CausePipeline is Keyheat's own: it cannot see.
	CausePipeline Cause = "pipeline"
)

// causeOf is the cause that a kind of finding has where nothing tells more.
var causeOf = map[Kind]Cause{
	HotKeyWrite:       CauseHotKey,
	HotKeyRead:        CauseHotKey,
	HotGSIKey:         CauseHotKey,
	LargeItem:         CauseHotKey,
	LargeCollection:   CauseHotKey,
	RollingHotKey:     CauseRollingKey,
	LowCardinalityKey: CauseFewValues,
	TooFewShards:      CauseShardedKey,
	TooManyShards:     CauseShardedKey,
	UnevenShards:      CauseShardedKey,
	SingleCaller:      CauseSingleCaller,
	TestKey:           CauseSingleCaller,
	HotPartition:      CauseHotPartition,
	TableStarvation:   CauseStarvation,
}

// Incident is what on-call is told of: findings with one cause. Findings are
// evidence; only incidents have routes, silences and pages.
type Incident struct {
	// ID is the same for the same cause, target and key on every machine.
	ID    string `json:"id"`
	Cause Cause  `json:"cause"`
	Target
	// Severity and State are the root finding's.
	Severity Severity `json:"severity"`
	State    State    `json:"state"`
	// OpenedAt is the first second of the episode, FiredAt when the incident
	// began to fire and ResolvedAt when it was over, both null until then.
	// LastSeen is the last second above the policy's share.
	OpenedAt   time.Time  `json:"opened_at"`
	FiredAt    *time.Time `json:"fired_at"`
	ResolvedAt *time.Time `json:"resolved_at"`
	LastSeen   time.Time  `json:"last_seen"`
	// Revision counts what was worth a message since the incident was opened.
	Revision int `json:"revision"`
	// Root is the fingerprint of the finding that the incident is about, Findings
	// are those of all.
	Root     string   `json:"root"`
	Findings []string `json:"findings"`
	// Title and Summary are for people, FirstFix is what to do first.
	Title    string `json:"title"`
	Summary  string `json:"summary"`
	FirstFix string `json:"first_fix"`
	// Labels and Owner come from the policy.
	Labels map[string]string `json:"labels"`
	Owner  string            `json:"owner"`
	// Quality is the root finding's.
	Quality Quality `json:"quality"`
}

// NewIncident returns the incident of one finding. As long as every finding is an
// incident of its own, the finding's fingerprint stands for the key of the cause.
func NewIncident(f *Finding) Incident {
	cause := causeOf[f.Kind]
	i := Incident{
		ID: IncidentID(cause, f.Target, f.Fingerprint), Cause: cause, Target: f.Target,
		Severity: f.Severity, State: f.State, OpenedAt: f.FirstSeen, LastSeen: f.LastSeen,
		Root: f.Fingerprint, Findings: []string{f.Fingerprint},
		Summary: f.Why, Labels: map[string]string{}, Quality: f.Quality,
	}
	if len(f.Advice) > 0 {
		i.FirstFix = f.Advice[0].Text
	}
	return i
}

// IncidentID returns the ID of the incident that a cause makes for a key of a
// target.
func IncidentID(c Cause, t Target, key string) string {
	return digest(string(c), t.Account, t.Region, t.Table, t.Index, key)
}

// Event is what a notification tells of an incident.
type Event string

// The events, in the order in which an incident has them.
const (
	EventFiring   Event = "firing"
	EventUpdated  Event = "updated"
	EventResolved Event = "resolved"
)

// NotificationID returns the ID of the notification that tells one route of an
// event. It is made of what is told, so that a judge that writes the same
// transition again, after a rollback or a failover, does not page again.
func NotificationID(incident string, opened time.Time, revision int, event Event, route string) string {
	return digest(incident, opened.UTC().Format(time.RFC3339), strconv.Itoa(revision), string(event), route)
}

// digest is half of the SHA-256 of texts that are told apart by a zero byte.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
