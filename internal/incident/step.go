package incident

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
)

// Input is everything beside the stored incident that decides its next step.
type Input struct {
	// Evidence is what is proven now; nil if nothing is, which ends the incident.
	Evidence *Evidence
	// OverSince is the last harmful second, for an incident that is over.
	OverSince time.Time
	// Undecided reports that it is not known yet whether the incident heals by itself.
	Undecided bool
	Policy    detect.Policy
	// PageWithin is the greatest age of the newest harmful second that is worth a message.
	// An older one is seen by a judge that was away.
	PageWithin time.Duration
	// Full reports that the messages of a moment are enough: what is due waits for a later step.
	Full bool
	// Silenced is the silence that chooses the incident; nil for none.
	Silenced func(*detect.Incident) *detect.Silenced
	// Receivers returns the receivers whose filters take the incident.
	Receivers func(*detect.Incident) []string
	Now       time.Time
	// Settled is the event time up to which all load is known.
	Settled time.Time
}

// Telling is a message about an incident to one receiver.
type Telling struct {
	Receiver string
	Event    detect.Event
}

// Entry is a step in the history of an incident.
type Entry struct {
	From detect.State
	Note detect.Note
}

// Outcome is an incident after a step.
type Outcome struct {
	After   detect.Incident
	History []Entry
	Tell    []Telling
}

// maxFindings bounds the findings that an incident keeps: a key named after the second has
// a new one each second.
const maxFindings = 1000

// Step returns an incident's next state. before is the stored one: the zero value for none.
func Step(before detect.Incident, in Input) Outcome {
	m := machine{Input: in, before: before}
	if m.isNewLife() {
		m.before = detect.Incident{Revision: before.Revision}
	}
	m.after = m.carryOn()
	m.after.State = m.nextState()
	m.stamp()
	if m.after.Silenced = nil; m.after.State != detect.Resolved {
		m.after.Silenced = in.Silenced(&m.after)
	}
	if m.after.State == detect.Resolved {
		m.tellEnd()
	} else if m.after.State == detect.Firing {
		m.tellNews()
	}
	if from := before.State; from != m.after.State {
		m.history = append([]Entry{{From: from, Note: m.noteOfState()}}, m.history...)
	}
	return Outcome{After: m.after, History: m.history, Tell: m.tell}
}

type machine struct {
	Input
	before, after detect.Incident
	// ending reports that the incident is over and fires on for a while.
	ending  bool
	history []Entry
	tell    []Telling
}

// isNewLife reports whether the evidence begins the incident, perhaps anew.
func (m *machine) isNewLife() bool {
	return m.before.ID == "" || m.before.State == detect.Resolved && m.isOpen()
}

func (m *machine) isOpen() bool { return m.Evidence != nil && m.Evidence.State != detect.Resolved }

// carryOn returns the incident with what is proven now and what is known of it. It is as
// severe as it was at worst, and its findings are all that it ever had.
func (m *machine) carryOn() detect.Incident {
	if m.Evidence == nil {
		return m.before
	}
	i, before := m.Evidence.Incident, &m.before
	if m.isOpen() {
		i.Severity = m.provenSeverity()
	}
	i.Revision = before.Revision
	if before.ID == "" {
		return i
	}
	i.Account, i.Region = cmp.Or(i.Account, before.Account), cmp.Or(i.Region, before.Region)
	i.OpenedAt, i.FiredAt, i.ResolvedAt = before.OpenedAt, before.FiredAt, before.ResolvedAt
	i.Told, i.Notified = before.Told, slices.Clone(before.Notified)
	i.Severity = detect.WorstSeverity(before.Severity, i.Severity)
	if before.LastSeen.After(i.LastSeen) {
		i.LastSeen = before.LastSeen
	}
	for _, f := range before.Findings {
		if len(i.Findings) < maxFindings && !slices.Contains(i.Findings, f) {
			i.Findings = append(i.Findings, f)
		}
	}
	return i
}

// provenSeverity is the severity of the present evidence. Where the policy wants lasting
// harm, one second above a limit makes no warning critical.
func (m *machine) provenSeverity() detect.Severity {
	severity := m.Evidence.Severity
	if m.waitsForHarm() {
		if lasting := cmp.Or(m.Evidence.Lasting, detect.Warning); detect.Rank(lasting) < detect.Rank(severity) {
			return lasting
		}
	}
	return severity
}

// waitsForHarm reports whether only lasting harm makes the incident fire.
func (m *machine) waitsForHarm() bool {
	return m.Evidence.OfKeys && !m.Evidence.Subject.IsBlind() && m.Policy.LifecycleOf(m.Evidence.Severity).OnHarm
}

func (m *machine) nextState() detect.State {
	lifecycle := m.Policy.LifecycleOf(m.after.Severity)
	switch {
	case m.isOpen() && (m.before.State == detect.Firing && m.Evidence.Harm || m.fires(lifecycle)):
		return detect.Firing
	case m.isOpen() && m.before.State != detect.Firing:
		return detect.Pending
	case m.before.State == detect.Firing && (m.Now.Before(m.OverSince.Add(lifecycle.KeepFiring)) || m.Full && m.before.Told != nil):
		m.ending = true
		return detect.Firing
	}
	return detect.Resolved
}

// fires reports whether a pending incident begins to fire. What makes an incident of
// Keyheat's own pipeline has waited already, and a gap has no length.
func (m *machine) fires(l detect.Lifecycle) bool {
	return m.Evidence.State == detect.Firing && (m.Evidence.Subject.IsBlind() ||
		!(m.waitsForHarm() && m.Evidence.Lasting == "") && m.after.LastSeen.Sub(m.after.OpenedAt) >= l.For)
}

// stamp notes when the incident began to fire, and when it ended.
func (m *machine) stamp() {
	if m.after.State == detect.Firing && m.after.FiredAt == nil {
		m.after.FiredAt = &m.Now
	}
	if m.after.State == detect.Resolved && m.after.ResolvedAt == nil {
		m.after.ResolvedAt = &m.Now
	}
}

// noteOfState gives the reason why a change of state has no message.
func (m *machine) noteOfState() detect.Note {
	switch {
	case m.after.State != detect.Firing:
		return detect.Note{}
	case m.after.Silenced != nil:
		return detect.Note{Code: detect.NoteSilenced, About: m.after.Silenced.By, Until: m.after.Silenced.Until}
	case m.isTooOld():
		return detect.Note{Code: detect.NoteTooOld}
	}
	return detect.Note{}
}

// isTooOld reports whether the newest harmful second is too long ago to tell.
func (m *machine) isTooOld() bool { return m.Now.Sub(m.after.LastSeen) > m.PageWithin }

// tellEnd sends the end to everybody who knows that the incident fires, also while it is
// silenced: a pager would show it for ever. The end names what the last message named.
func (m *machine) tellEnd() {
	if m.before.Told != nil {
		m.after.Revision++
		for _, receiver := range m.before.Notified {
			m.tell = append(m.tell, Telling{receiver, detect.EventResolved})
		}
		m.after.Case, m.after.Subject, m.after.Root = m.before.Told.Case, m.before.Told.Subject, cmp.Or(m.before.Told.Root, m.after.Root)
	}
	m.after.Told, m.after.Notified, m.after.Turn, m.after.Claim = nil, []string{}, nil, nil
}

// tellNews sends what receivers do not know of a firing incident, unless it is silenced,
// too old, or over, or has to wait.
func (m *machine) tellNews() {
	if rose := m.before.State == detect.Firing && m.before.ID != "" && detect.Rank(m.after.Severity) > detect.Rank(m.before.Severity); rose {
		m.history = append(m.history, Entry{detect.Firing, detect.Note{Code: detect.NoteWorse, About: string(m.before.Severity)}})
	}
	if m.after.Silenced != nil || m.ending || m.isTooOld() || m.Full {
		return
	}
	note, due := m.news()
	if !due {
		if m.before.Told != nil {
			m.tellNew()
		}
		return
	}
	if note.Code != "" {
		m.history = append(m.history, Entry{detect.Firing, note})
	}
	m.after.Revision++
	for _, receiver := range m.Receivers(&m.after) {
		if !slices.Contains(m.after.Notified, receiver) {
			m.after.Notified = append(m.after.Notified, receiver)
			m.tell = append(m.tell, Telling{receiver, detect.EventFiring})
		}
	}
	for _, receiver := range m.before.Notified {
		m.tell = append(m.tell, Telling{receiver, detect.EventUpdated})
	}
	m.after.Told = &detect.Told{At: m.Now, Severity: m.after.Severity, Case: m.after.Case, Subject: m.after.Subject, Root: m.after.Root, Undecided: m.Undecided}
}

// verdictPause is how long an incident lasts before an update has the verdict on its
// first message: a verdict of its first seconds may change.
const verdictPause = 30 * time.Second

// news reports whether receivers must hear of the incident, and the note of its history
// where no other entry has one.
func (m *machine) news() (note detect.Note, due bool) {
	told, every := m.before.Told, m.Policy.LifecycleOf(m.after.Severity).Repeat
	held := m.before.State == detect.Firing && (told == nil || detect.Rank(told.Severity) < detect.Rank(m.before.Severity))
	goesOn := m.after.LastSeen.After(m.before.LastSeen) // a load that has stopped gets its end, and no update
	switch {
	case held && m.hasStopped():
		return detect.Note{}, false // it is sent if it is seen again
	case held && m.before.Silenced != nil:
		return detect.Note{Code: detect.NoteSilenceEnded}, true
	case held:
		return detect.Note{Code: detect.NoteCaughtUp}, true
	case told == nil, detect.Rank(told.Severity) < detect.Rank(m.after.Severity):
		return detect.Note{}, true
	case casebook.Form(told.Case) != casebook.Form(m.after.Case) && goesOn:
		return detect.Note{Code: detect.NoteCause, About: string(told.Case)}, true
	case told.Undecided && !m.Undecided && goesOn && m.after.LastSeen.Sub(m.after.OpenedAt) >= verdictPause:
		return detect.Note{Code: detect.NoteHealingKnown}, true
	case every > 0 && m.Now.Sub(told.At) >= every:
		return detect.Note{Code: detect.NoteRepeated}, true
	}
	return detect.Note{}, false
}

// stopsAfter is for how long, in event time, a load must not have been seen to have stopped.
const stopsAfter = detect.HarmOf * time.Second

// hasStopped reports whether a load is over though its findings are not yet.
func (m *machine) hasStopped() bool {
	return !m.after.Subject.IsBlind() && m.Settled.Sub(m.after.LastSeen) > stopsAfter
}

// tellNew sends the beginning to receivers that are new in the settings.
func (m *machine) tellNew() {
	for _, receiver := range m.Receivers(&m.after) {
		if !slices.Contains(m.after.Notified, receiver) {
			m.after.Notified = append(m.after.Notified, receiver)
			m.tell = append(m.tell, Telling{receiver, detect.EventFiring})
		}
	}
	if len(m.tell) > 0 {
		m.after.Revision++
	}
}

// Merge returns an incident that ends because another one continues it. Every receiver of
// its beginning gets its end.
func Merge(before detect.Incident, into string, now time.Time) Outcome {
	m := machine{Input: Input{Now: now}, before: before, after: before}
	m.after.State, m.after.Silenced = detect.Resolved, nil
	m.stamp()
	m.tellEnd()
	return Outcome{After: m.after, History: []Entry{{before.State, detect.Note{Code: detect.NoteContinuedBy, About: into}}}, Tell: m.tell}
}
