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
	// Announced reports that its firing was worth a message since it was opened. Its end
	// will be, too.
	Announced bool `json:"announced"`
	// Undecided reports that the last message left open whether the incident heals by
	// itself. One update follows when that is known.
	Undecided bool `json:"undecided"`
	// Root is the fingerprint of the finding that explains the others. Findings are the
	// fingerprints of all.
	Root     string   `json:"root"`
	Findings []string `json:"findings"`
	// ClaimedBy are the incidents of other causes that explain some of its findings, and
	// the start of each claim. They take these findings over if the claim lasts.
	ClaimedBy map[string]time.Time `json:"claimed_by,omitempty"`
	// Labels and Owner come from the policy. RunbookURL is the address of the owner's own
	// instructions; empty for none.
	Labels     map[string]string `json:"labels"`
	Owner      string            `json:"owner"`
	RunbookURL string            `json:"runbook_url"`
	// Notified are the receivers that know that it fires, and not yet that it is
	// resolved.
	Notified []string `json:"notified"`
	// Groups are the groups whose messages report the incident together with others.
	Groups []InGroup `json:"groups,omitempty"`
	// Silenced is the silence that holds back messages that the incident fires or gets
	// worse; nil for none. Withheld reports that a silence held one back. It is due when
	// the silence ends.
	Silenced *Silenced `json:"silenced"`
	Withheld bool      `json:"withheld"`
	Quality  Quality   `json:"quality"`
}

// InGroup is a group of incidents whose messages include one.
type InGroup struct {
	Receiver string `json:"receiver"`
	// ID is the group's ID in the receiver's messages.
	ID string `json:"id"`
	// Labels are the labels that the group's incidents share, by the names in the route's
	// group_by.
	Labels map[string]string `json:"labels"`
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
	// NoteTooOld marks that nothing was sent, because the second was judged long after it
	// happened. The end is not sent either.
	NoteTooOld NoteCode = "too_old"
	// NoteSilenced marks that the silence About holds back messages.
	NoteSilenced     NoteCode = "silenced"
	NoteSilenceEnded NoteCode = "silence_ended"
	// NoteContinues marks that the incident takes over from About, NoteContinuedBy that
	// About takes over from it.
	NoteContinues   NoteCode = "continues"
	NoteContinuedBy NoteCode = "continued_by"
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
func (f *Finding) BelongTo(c Cause, key string) { f.Incident = IncidentID(c, f.incidentTarget(), key) }

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
		all = append(all, incidentOf(g))
	}
	slices.SortStableFunc(all, func(x, y Incident) int { return cmp.Compare(Rank(y.Severity), Rank(x.Severity)) })
	return all
}

func incidentOf(g []*Finding) Incident {
	root := g[0]
	i := Incident{
		ID: root.Incident, Cause: causeFor(root), Target: root.Target,
		Severity: root.Severity, State: root.State, OpenedAt: root.FirstSeen, LastSeen: root.LastSeen,
		Root: root.Fingerprint, Findings: []string{},
		Labels: map[string]string{}, Notified: []string{}, Quality: root.Quality,
	}
	for _, f := range g {
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

// causeFor returns the cause whose incident ID the root has.
func causeFor(root *Finding) Cause {
	usual, target := causeOf[root.Kind], root.incidentTarget()
	if root.Incident == IncidentID(usual, target, root.causeKey()) {
		return usual
	}
	switch {
	case root.Rolling != nil:
		return CauseRollingKey
	case root.Sharding != nil:
		return CauseShardedKey
	}
	for _, c := range []Cause{CauseMovingHotSpot, CauseIndexBackPressure, CauseFewValues} {
		for _, key := range []string{"", root.causeKey()} {
			if root.Incident == IncidentID(c, target, key) {
				return c
			}
		}
	}
	return usual
}

// HasCause reports whether the finding's incident is the one that a cause makes for the
// finding's own target.
func (f *Finding) HasCause(c Cause) bool {
	switch {
	case c == CauseRollingKey && f.Rolling != nil, c == CauseShardedKey && f.Sharding != nil:
		return true
	}
	target := f.incidentTarget()
	return f.Incident == IncidentID(c, target, "") || f.Incident == IncidentID(c, target, f.causeKey())
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
