package detect

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Cause is the root cause of an incident.
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
	// CausePipeline is a fault of Keyheat's own pipeline: it cannot see the load.
	CausePipeline Cause = "pipeline"
)

var causeOf = map[Kind]Cause{
	HotKeyWrite:       CauseHotKey,
	HotKeyRead:        CauseHotKey,
	HotGSIKey:         CauseHotKey,
	LargeItem:         CauseHotKey,
	LargeCollection:   CauseHotKey,
	RollingHotKey:     CauseRollingKey,
	MovingHotSpot:     CauseMovingHotSpot,
	LowCardinalityKey: CauseFewValues,
	TooFewShards:      CauseShardedKey,
	TooManyShards:     CauseShardedKey,
	UnevenShards:      CauseShardedKey,
	SingleCaller:      CauseSingleCaller,
	TestKey:           CauseSingleCaller,
	RetryStorm:        CauseRetryStorm,
	HotPartition:      CauseHotPartition,
	TableStarvation:   CauseStarvation,
	CoverageFell:      CausePipeline,
	TooManyHotKeys:    CausePipeline,
	UnseenKeys:        CausePipeline,
	CollectionStopped: CausePipeline,
	CollectionLags:    CausePipeline,
	BadSamples:        CausePipeline,
	TablesRefused:     CausePipeline,
	SamplesLost:       CausePipeline,
	SamplesStopped:    CausePipeline,
}

// Kinds returns the names of all kinds of findings, sorted.
func Kinds() []string {
	var all []string
	for kind := range causeOf {
		all = append(all, string(kind))
	}
	return slices.Sorted(slices.Values(all))
}

// Causes returns the names of all causes of incidents, sorted.
func Causes() []string {
	all := []string{string(CauseIndexBackPressure)}
	for _, cause := range causeOf {
		all = append(all, string(cause))
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// Incident joins the findings of one cause. Findings are evidence; only incidents have
// routes, silences and notifications.
type Incident struct {
	// ID is the same for the same cause, target and key on every machine.
	ID    string `json:"id"`
	Cause Cause  `json:"cause"`
	Target
	// Severity is the worst of all findings. State is open as long as any finding is
	// open.
	Severity Severity `json:"severity"`
	State    State    `json:"state"`
	// OpenedAt is the first second of the episode. FiredAt is the start of firing and
	// ResolvedAt the end; both are null until then. LastSeen is the last second above the
	// policy's share.
	OpenedAt   time.Time  `json:"opened_at"`
	FiredAt    *time.Time `json:"fired_at"`
	ResolvedAt *time.Time `json:"resolved_at"`
	LastSeen   time.Time  `json:"last_seen"`
	// Revision counts the changes worth a message, and never falls: a reopened incident
	// continues from its last one.
	Revision int `json:"revision"`
	// Told is the content of its last message; nil without one since it opened. An end is
	// sent only if the beginning was.
	Told *Told `json:"told"`
	// Root is the fingerprint of the finding that explains the others. Findings are the
	// fingerprints of all.
	Root     string   `json:"root"`
	Findings []string `json:"findings"`
	// Turn is another cause that its findings have had since a moment. It becomes the
	// incident's cause if that lasts. Claim is another incident that would explain all its
	// open findings, and continues it if that lasts.
	Turn  *Turn `json:"turn,omitempty"`
	Claim *Turn `json:"claim,omitempty"`
	// Labels and Owner come from the policy. RunbookURL is the address of the owner's own
	// instructions; empty for none.
	Labels     map[string]string `json:"labels"`
	Owner      string            `json:"owner"`
	RunbookURL string            `json:"runbook_url"`
	// Notified are the receivers that know that it fires, and not yet that it is
	// resolved.
	Notified []string `json:"notified"`
	// Silenced is the silence that holds back messages that the incident fires or gets
	// worse; nil for none. They are due when the silence ends.
	Silenced *Silenced `json:"silenced"`
	Quality  Quality   `json:"quality"`
}

// Told is the content of the last message about an incident.
type Told struct {
	At       time.Time `json:"at"`
	Severity Severity  `json:"severity"`
	Cause    Cause     `json:"cause"`
	// Root is the finding that it named. The end names it too.
	Root string `json:"root"`
	// Undecided reports that it left open whether the incident heals by itself. One update
	// follows when that is known.
	Undecided bool `json:"undecided"`
}

// Turn is a change that has begun, and is believed if it lasts: To names a cause or an
// incident, Since is the event time of its beginning.
type Turn struct {
	To    string    `json:"to"`
	Since time.Time `json:"since"`
}

// Silenced names the silence of an incident.
type Silenced struct {
	// By is the silence's ID.
	By     string    `json:"by"`
	Author string    `json:"author"`
	Reason string    `json:"reason"`
	Until  time.Time `json:"until"`
}

// Note is why a history has an entry, where the change of state does not say it.
type Note struct {
	Code NoteCode
	// About is the incident or silence that the code names, or the severity before.
	About string
	// Until is the end of a silence.
	Until time.Time
}

// NoteCode is a reason for an entry of a history.
type NoteCode string

// The reasons.
const (
	// NoteTooOld marks that nothing was sent yet, because the newest second was judged long
	// after it happened. NoteCaughtUp marks the message that follows when the load is still
	// there once the judge has caught up.
	NoteTooOld   NoteCode = "too_old"
	NoteCaughtUp NoteCode = "caught_up"
	// NoteSilenced marks that the silence About holds back messages.
	NoteSilenced     NoteCode = "silenced"
	NoteSilenceEnded NoteCode = "silence_ended"
	// NoteContinues marks that the incident takes over from About, NoteContinuedBy that
	// About takes over from it. NoteCause marks the update that names another cause than
	// About.
	NoteContinues   NoteCode = "continues"
	NoteContinuedBy NoteCode = "continued_by"
	NoteCause       NoteCode = "cause"
	// NoteWorse marks that the severity rose from About.
	NoteWorse NoteCode = "worse"
	// NoteHealingKnown marks the update that says whether the hot spot heals by itself.
	NoteHealingKnown NoteCode = "healing_known"
	// NoteRepeated marks that the message was sent again, because it still fires.
	NoteRepeated NoteCode = "repeated"
)

// BelongTo assigns the finding to the incident that a cause makes for a key of its
// target. Writes to a global table have one incident for all Regions. The key is the
// cause's: a hot key itself, the pattern of a rolling key, or a caller. It is empty if
// the target as a whole has the cause.
func (f *Finding) BelongTo(c Cause, key string) {
	f.Cause, f.Incident = c, IncidentID(c, f.incidentTarget(), key)
}

// incidentTarget is the target of the finding's incident. Writes load all Regions of a
// global table alike: the first Region stands for all.
func (f *Finding) incidentTarget() Target {
	t := f.Target
	if f.Replication != nil && len(f.Replication.Regions) > 0 {
		t.Region = f.Replication.Regions[0]
	}
	return t
}

func (f *Finding) causeKey() string {
	if causeOf[f.Kind] == CausePipeline {
		return string(f.Kind) // each kind is an incident of its own
	}
	if f.Key == "" {
		return ""
	}
	return f.KeyType + ":" + string(f.Key)
}

// Incidents returns the incidents of findings, the most severe first. Each finding names
// its incident.
func Incidents(found []Finding) []Incident {
	all := []Incident{}
	for _, g := range Roots(found) {
		all = append(all, NewIncident(g[0].Incident, CauseOf(g[0]), g[0], g))
	}
	slices.SortStableFunc(all, func(x, y Incident) int { return cmp.Compare(Rank(y.Severity), Rank(x.Severity)) })
	return all
}

// NewIncident returns the incident that findings make, with one of them as its root.
func NewIncident(id string, cause Cause, root *Finding, found []*Finding) Incident {
	i := Incident{
		ID: id, Cause: cause, Target: root.Target,
		Severity: root.Severity, State: root.State, OpenedAt: root.FirstSeen, LastSeen: root.LastSeen,
		Root: root.Fingerprint, Findings: []string{},
		Labels: map[string]string{}, Notified: []string{}, Quality: root.Quality,
	}
	for _, f := range found {
		i.Findings = append(i.Findings, f.Fingerprint)
		i.Severity, i.State = WorstSeverity(i.Severity, f.Severity), worstState(i.State, f.State)
		if f.FirstSeen.Before(i.OpenedAt) {
			i.OpenedAt = f.FirstSeen
		}
		if f.LastSeen.After(i.LastSeen) {
			i.LastSeen = f.LastSeen
		}
	}
	return i
}

// CauseOf returns the cause of an incident by its root: whoever makes one key hot is the cause
// of the key's own incident.
func CauseOf(root *Finding) Cause {
	if root.Cause == CauseHotKey {
		return causeOf[root.Kind]
	}
	return root.Cause
}

// Lift gives the root of each incident the worst severity and state of its findings: a
// rolling key is as bad as the worst of its days.
func Lift(found []Finding) {
	for _, g := range Roots(found) {
		for _, f := range g[1:] {
			g[0].Severity, g[0].State = WorstSeverity(g[0].Severity, f.Severity), worstState(g[0].State, f.State)
		}
	}
}

// WorstSeverity returns the worse of two severities.
func WorstSeverity(a, b Severity) Severity {
	if Rank(b) > Rank(a) {
		return b
	}
	return a
}

// worstState returns the first of the two states in the order firing, pending, resolved.
func worstState(a, b State) State {
	switch {
	case a == Firing || b == Firing:
		return Firing
	case a == Pending || b == Pending:
		return Pending
	}
	return Resolved
}

// IncidentID returns the ID of the incident that a cause makes for a key of a target.
func IncidentID(c Cause, t Target, key string) string {
	return digest(string(c), t.Account, t.Region, t.Table, t.Index, key)
}

// digest returns half of the SHA-256 of texts, each ended by a zero byte.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
