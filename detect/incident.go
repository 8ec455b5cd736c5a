package detect

import "time"

// Incident joins the findings that one case explains. Findings are evidence; only incidents have
// routes, silences and notifications.
type Incident struct {
	// ID is the same for the same case, target and key on every machine. Case and Subject are
	// the root finding's.
	ID      string  `json:"id"`
	Case    Case    `json:"case"`
	Subject Subject `json:"subject"`
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
	// Turn is another case that its findings have had since a moment. It becomes the
	// incident's if that lasts. Claim is another incident that would explain all its
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
	Case     Case      `json:"case"`
	Subject  Subject   `json:"subject"`
	// Root is the finding that it named. The end names it too.
	Root string `json:"root"`
	// Undecided reports that it left open whether the incident heals by itself. One update
	// follows when that is known.
	Undecided bool `json:"undecided"`
}

// Turn is a change that has begun, and is believed if it lasts: To names a case or an
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
	// About takes over from it. NoteCause marks the update that names another case than
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

// WorstSeverity returns the worse of two severities.
func WorstSeverity(a, b Severity) Severity {
	if Rank(b) > Rank(a) {
		return b
	}
	return a
}
