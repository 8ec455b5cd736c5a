package detect

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
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

// Incident is what on-call is told of: findings with one cause. Findings are
// evidence; only incidents have routes, silences and pages.
type Incident struct {
	// ID is the same for the same cause, target and key on every machine.
	ID    string `json:"id"`
	Cause Cause  `json:"cause"`
	Target
	// Severity and State are the root finding's: the worst of all findings, and
	// open as long as any of them is.
	Severity Severity `json:"severity"`
	State    State    `json:"state"`
	// OpenedAt is the first second of the episode, FiredAt when the incident
	// began to fire and ResolvedAt when it was over, both null until then.
	// LastSeen is the last second above the policy's share.
	OpenedAt   time.Time  `json:"opened_at"`
	FiredAt    *time.Time `json:"fired_at"`
	ResolvedAt *time.Time `json:"resolved_at"`
	LastSeen   time.Time  `json:"last_seen"`
	// Revision counts what was worth a message, and never falls: an incident that is
	// opened again goes on from its last one.
	Revision int `json:"revision"`
	// Announced reports that its firing was worth a message since it was opened, so that
	// its end will be.
	Announced bool `json:"announced"`
	// Undecided reports that the last message left open whether the incident heals by
	// itself. One update follows when that is known.
	Undecided bool `json:"undecided"`
	// Root is the fingerprint of the finding that the incident is about, Findings
	// are those of all.
	Root     string   `json:"root"`
	Findings []string `json:"findings"`
	// ClaimedBy are the incidents of other causes that explain some of its findings, and
	// since when: they take these over if that lasts.
	ClaimedBy map[string]time.Time `json:"claimed_by,omitempty"`
	// Title and Summary are for people, FirstFix is what to do first.
	Title    string `json:"title"`
	Summary  string `json:"summary"`
	FirstFix string `json:"first_fix"`
	// Labels and Owner come from the policy, and RunbookURL, the address of the owner's
	// own instructions; empty for none.
	Labels     map[string]string `json:"labels"`
	Owner      string            `json:"owner"`
	RunbookURL string            `json:"runbook_url"`
	// Notified are the receivers that were told that it fires, and not yet that it is
	// over.
	Notified []string `json:"notified"`
	// Groups are the groups of incidents in which receivers are told of it: those that
	// have it as one of several.
	Groups []InGroup `json:"groups,omitempty"`
	// Silenced is the silence because of which nobody is told that it fires or gets
	// worse; nil for none. Withheld reports that something was not told because of one,
	// and is to be told when it is over.
	Silenced *Silenced `json:"silenced"`
	Withheld bool      `json:"withheld"`
	// Quality is the root finding's.
	Quality Quality `json:"quality"`
}

// InGroup is a group of incidents in which a receiver is told of one.
type InGroup struct {
	Receiver string `json:"receiver"`
	// ID is the group's, by which the receiver knows it.
	ID string `json:"id"`
	// Labels are what the incidents of the group have in common, by the names in the
	// route's group_by.
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

// BelongTo makes the finding evidence of the incident that a cause makes for a key
// of its target; of writes to a global table those of all Regions have one. The key is
// the cause's: a hot key itself, the pattern of a rolling one, a caller; nothing where
// the target as a whole has the cause.
func (f *Finding) BelongTo(c Cause, key string) { f.Incident = IncidentID(c, f.incidentTarget(), key) }

// incidentTarget is what the finding's incident is about. Writes load all Regions of a
// global table alike: the first Region stands for all.
func (f *Finding) incidentTarget() Target {
	t := f.Target
	if f.Replication != nil && len(f.Replication.Regions) > 0 {
		t.Region = f.Replication.Regions[0]
	}
	return t
}

// causeKey is what an incident of the kind's usual cause is about, beside its target.
func (f *Finding) causeKey() string {
	if causeOf[f.Kind] == CausePipeline {
		return string(f.Kind) // each is a matter of its own
	}
	if f.Key == "" {
		return ""
	}
	return f.KeyType + ":" + f.Key
}

// Roots returns the findings of each incident, the one that it is about first. The
// incidents are in the order in which their first findings come.
func Roots(found []Finding) (groups [][]*Finding) {
	at := make(map[string]int, len(found))
	for i := range found {
		f := &found[i]
		g, known := at[f.Incident]
		if !known {
			g = len(groups)
			at[f.Incident] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], f)
	}
	for _, g := range groups {
		slices.SortFunc(g, byRoot)
	}
	return groups
}

// ByIncident returns findings so that those of one incident stand together, the one that
// it is about first; incidents as they come.
func ByIncident(found []Finding) []*Finding {
	all := make([]*Finding, 0, len(found))
	for _, g := range Roots(found) {
		all = append(all, g...)
	}
	return all
}

// ownShare is the part of a peak below which a Region has next to nothing of it: what
// its requests are like explains little of a load that is replicated to it.
const ownShare = 0.1

// byRoot orders the findings of one incident: what is open first, then what explains
// the others, of a global table in a Region that writes, then what is worse.
func byRoot(x, y *Finding) int {
	over := func(f *Finding) int { return b2i(f.State == Resolved) }
	return cmp.Or(
		cmp.Compare(over(x), over(y)),
		cmp.Compare(x.rank(), y.rank()),
		cmp.Compare(b2i(x.Index == ""), b2i(y.Index == "")), // an index holds its table's writes back
		byKnown(x, y),
		cmp.Compare(b2i(x.OwnShare() < ownShare), b2i(y.OwnShare() < ownShare)),
		cmp.Compare(Rank(y.Severity), Rank(x.Severity)),
		cmp.Compare(y.Utilization, x.Utilization),
		cmp.Compare(x.Fingerprint, y.Fingerprint),
	)
}

// byKnown orders findings of one incident whose tables may be the same one: of those
// that are open, the one whose account and Region are known comes first; of those
// that are over, the one that was last.
func byKnown(x, y *Finding) int {
	known := func(f *Finding) int { return b2i(f.Account != "") + b2i(f.Region != "") }
	switch {
	case x.Target == y.Target:
		return 0
	case x.State == Resolved && y.State == Resolved:
		return y.LastSeen.Compare(x.LastSeen)
	}
	return cmp.Compare(known(y), known(x))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// rank is the kind's, but that few values explain nothing where all load is on one.
func (f *Finding) rank() int {
	if f.Kind == LowCardinalityKey && f.Incident != IncidentID(CauseFewValues, f.incidentTarget(), "") {
		return rootRank[LargeItem]
	}
	return rootRank[f.Kind]
}

// rootRank tells which kind explains the others of its incident: the design or the
// caller that makes keys hot before the keys, and what their items are like after
// them.
var rootRank = map[Kind]int{
	RollingHotKey: 1, MovingHotSpot: 2, TooFewShards: 3, UnevenShards: 4, LowCardinalityKey: 5, TestKey: 6, RetryStorm: 7, SingleCaller: 8,
	HotGSIKey: 9, HotKeyWrite: 10, HotKeyRead: 10, HotPartition: 11, TableStarvation: 12,
	LargeItem: 13, LargeCollection: 14, TooManyShards: 15,
}

// Incidents returns what findings are evidence of, the most severe first. Each
// finding names its incident.
func Incidents(found []Finding) []Incident {
	all := []Incident{}
	for _, g := range Roots(found) {
		all = append(all, incidentOf(g))
	}
	slices.SortStableFunc(all, func(x, y Incident) int { return cmp.Compare(Rank(y.Severity), Rank(x.Severity)) })
	return all
}

// incidentOf returns the incident of findings, the root first. It is as severe as the
// worst of them, and open as long as any of them is.
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
		i.Severity, i.State = worst(i.Severity, f.Severity), openest(i.State, f.State)
		if f.FirstSeen.Before(i.OpenedAt) {
			i.OpenedAt = f.FirstSeen
		}
		if f.LastSeen.After(i.LastSeen) {
			i.LastSeen = f.LastSeen
		}
	}
	return i
}

// causeFor returns the cause that made the root's incident: the one whose ID it has.
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

// HasCause reports whether the finding's incident is the one that a cause makes for
// the finding's own target.
func (f *Finding) HasCause(c Cause) bool {
	switch {
	case c == CauseRollingKey && f.Rolling != nil, c == CauseShardedKey && f.Sharding != nil:
		return true
	}
	target := f.incidentTarget()
	return f.Incident == IncidentID(c, target, "") || f.Incident == IncidentID(c, target, f.causeKey())
}

// Lift gives the root of each incident the severity and the state of what it
// explains: a rolling key is as bad as the worst of its days.
func Lift(found []Finding) {
	for _, g := range Roots(found) {
		for _, f := range g[1:] {
			g[0].Severity, g[0].State = worst(g[0].Severity, f.Severity), openest(g[0].State, f.State)
		}
	}
}

func worst(a, b Severity) Severity {
	if Rank(b) > Rank(a) {
		return b
	}
	return a
}

// openest returns which of two states concerns people more.
func openest(a, b State) State {
	switch {
	case a == Firing || b == Firing:
		return Firing
	case a == Pending || b == Pending:
		return Pending
	}
	return Resolved
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

// Payload is what the outbox keeps of an incident's notification: the incident, and the
// finding that it is about, as they were then. Before there were incidents in it a
// payload was the finding alone.
type Payload struct {
	Incident json.RawMessage `json:"incident"`
	Finding  json.RawMessage `json:"finding"`
	// Recent is the load of the finding's key before the notification; nil where that is
	// not known, of a finding that is about no single key, and of an end.
	Recent *Recent `json:"recent,omitempty"`
	// Related says of the worst other findings of the incident what each is about, in
	// words, at most [RelatedFindings]; none of an end.
	Related []string `json:"related,omitempty"`
	// Group is the group of incidents that the notification is of, whose worst one
	// Incident is; nil for that incident alone.
	Group *Group `json:"group,omitempty"`
}

// Group is incidents that a receiver is told of together, as a notification tells them.
type Group struct {
	InGroup
	// Severity is the worst that the group had since it fires, OpenedAt since when it is
	// hot.
	Severity Severity  `json:"severity"`
	OpenedAt time.Time `json:"opened_at"`
	// Firing is how many of the incidents fire, Over how many are over of which that was
	// not told before, and Total how many there were since the group fires.
	Firing int `json:"firing"`
	Over   int `json:"over"`
	Total  int `json:"total"`
	// Members are these incidents, those that fire and the worst first, at most
	// [GroupMembers].
	Members []GroupMember `json:"members"`
}

// GroupMember is one incident of a group.
type GroupMember struct {
	// Incident is its ID, Finding the fingerprint of the finding that it is about.
	Incident string   `json:"incident"`
	Finding  string   `json:"finding"`
	Severity Severity `json:"severity"`
	State    State    `json:"state"`
	// Title says in one line what it is about; empty where that is not known any more.
	Title string `json:"title"`
}

// GroupMembers is how many incidents of a group a notification lists.
const GroupMembers = 10

// RelatedFindings is how many findings beside its root a notification names.
const RelatedFindings = 5

// RecentSeconds is of how many seconds a notification tells the load.
const RecentSeconds = 30

// Recent is a key's load in the last seconds before it was told of.
type Recent struct {
	// From is the first second; each of Loads is one second.
	From time.Time `json:"from"`
	// Unit is wcu or rcu, Limit what one partition serves of it in a second.
	Unit  string  `json:"unit"`
	Limit float64 `json:"limit"`
	// Loads are whole units a second; null where it was not seen whether the key had any.
	// 0 may be up to [TrackShare] of the limit, below which a key is not followed. The
	// newest second may still have been going on.
	Loads []*float64 `json:"loads"`
}

// NewPayload returns a notification's payload of an incident, to which its other parts
// are added. finding is the document of the root.
func NewPayload(i *Incident, finding []byte) (p Payload, err error) {
	p.Finding = finding
	p.Incident, err = json.Marshal(i)
	return p, err
}

// ReadPayload returns what a payload holds; a finding alone as that of no incident.
func ReadPayload(payload []byte) Payload {
	var p Payload
	if json.Unmarshal(payload, &p) == nil && p.Finding != nil {
		return p
	}
	return Payload{Finding: payload}
}

// GroupID returns the ID of a group of incidents, of what makes it.
func GroupID(parts ...string) string { return digest(parts...) }

// CopiedID returns the ID of a notification that is made of another one, to tell a
// route of it.
func CopiedID(id, route string) string { return digest(id, route) }

// digest is half of the SHA-256 of texts that are told apart by a zero byte.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
