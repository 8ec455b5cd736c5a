package verdict

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/store"
)

// noteTooOld marks in the history that no notification was sent, because the
// finding was made long after it happened. None is sent of its end either.
const noteTooOld = "too old to notify"

// noteShared marks in the history of a finding that its incident has another open
// finding, of the same key where the account or Region was not known.
const noteShared = "the incident is also of the same key under another account or Region"

// stored is what the store has of a finding.
type stored struct {
	finding  detect.Finding
	document []byte
	// notified reports that firing was notified, so that the end will be.
	notified bool
	// incident is the one that the finding is evidence of; without an ID when none
	// is stored yet.
	incident detect.Incident
	// joins reports that the incident was another finding's, and becomes this
	// one's too; see [State.join].
	joins bool
}

// known is what is stored of the findings that the board has.
type known map[string]stored

// Earlier is what the store has of a finding.
type Earlier struct {
	Finding store.Finding
	// History is needed of a firing finding only.
	History []store.Transition
	// Incident is nil when none is stored.
	Incident *store.Incident
}

// SetEarlier records what is stored of a finding.
func (s *State) SetEarlier(e Earlier) error {
	f, err := detect.ReadFinding(e.Finding.Document)
	if err != nil {
		return fmt.Errorf("stored finding %s: %w", e.Finding.Fingerprint, err)
	}
	earlier := stored{finding: f, document: e.Finding.Document}
	earlier.notified = f.State == detect.Firing && wasNotified(e.History)
	if e.Incident != nil {
		i := &earlier.incident
		if err := json.Unmarshal(e.Incident.Document, i); err != nil {
			return fmt.Errorf("stored incident %s: %w", e.Incident.ID, err)
		}
		if len(i.Findings) > 1 { // another finding may have been notified
			earlier.notified = f.State != detect.Resolved && i.State == detect.Firing && i.Revision > 0
		}
	}
	s.known[f.Fingerprint] = earlier
	return nil
}

// wasNotified reports whether a finding's last change to firing was notified.
func wasNotified(history []store.Transition) bool {
	notified := true
	for _, t := range history {
		if t.To == string(detect.Firing) && t.From != t.To {
			notified = t.Note != noteTooOld
		}
	}
	return notified
}

// draft is what is to be written of findings: everything since the last
// judgement that was stored.
type draft struct {
	// findings are the newest of each, in the order in which they changed
	// first.
	findings      []store.Finding
	transitions   []store.Transition
	notifications []store.Notification
	// incidents are the newest of each, in the order in which they changed first.
	incidents           []store.Incident
	incidentTransitions []store.IncidentTransition
	// at is where each finding is, incidentAt where each incident; after is what
	// will be stored then.
	at, incidentAt map[string]int
	after          known
}

func newDraft() *draft {
	return &draft{at: make(map[string]int), incidentAt: make(map[string]int), after: make(known)}
}

func (d *draft) addTo(j *store.Judgement) {
	j.Findings, j.Transitions, j.Notifications = d.findings, d.transitions, d.notifications
	j.Incidents, j.IncidentTransitions = d.incidents, d.incidentTransitions
}

// put drafts a finding and its incident, in place of what was drafted of them.
func (d *draft) put(f store.Finding, incident store.Incident) {
	if i, already := d.at[f.Fingerprint]; already {
		d.findings[i] = f
	} else {
		d.at[f.Fingerprint] = len(d.findings)
		d.findings = append(d.findings, f)
	}
	if i, already := d.incidentAt[incident.ID]; already {
		if incident.Findings == nil {
			incident.Findings = d.incidents[i].Findings
		}
		d.incidents[i] = incident
	} else {
		d.incidentAt[incident.ID] = len(d.incidents)
		d.incidents = append(d.incidents, incident)
	}
}

// isOlder reports whether the board's finding is not newer than the stored one.
// After a restart the board observes stored windows again, and its findings are
// for a while those of that time.
func isOlder(f detect.Finding, before stored) bool {
	old := before.finding
	if f.LastSeen.Before(old.LastSeen) {
		return true
	}
	if f.FirstSeen.After(old.LastSeen) {
		return false // another episode
	}
	switch {
	case worse(old.Severity, f.Severity): // it is the episode's worst
		return true
	case f.LastSeen.Equal(old.LastSeen) && rank(f.State) < rank(old.State):
		return true
	}
	// The beginning of a resolved episode is not replayed when it is too long
	// ago.
	return f.State == detect.Resolved && old.State == detect.Resolved && f.FirstSeen.After(old.FirstSeen)
}

// rank is how far an episode has come.
func rank(s detect.State) int {
	return slices.Index([]detect.State{detect.Pending, detect.Firing, detect.Resolved}, s)
}

func row(f detect.Finding, document []byte) store.Finding {
	return store.Finding{
		Fingerprint: f.Fingerprint, Kind: string(f.Kind), Target: f.Target, Key: f.Key,
		Severity: string(f.Severity), State: string(f.State), Utilization: f.Utilization,
		FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Document: document,
	}
}

// compare drafts the steps from what was stored to what is. others are the open
// findings of the same incident.
func (d *draft) compare(f detect.Finding, before stored, others []stored, document []byte, o Options, now time.Time) (stored, error) {
	after := stored{finding: f, document: document, notified: before.notified, incident: continued(before, &f, others, now)}
	from, shared := before.finding.State, len(others) > 0
	switch {
	case f.State != from && f.State == detect.Firing && shared && before.notified:
		d.findingStep(&after, from, now, noteShared)
	case f.State != from && f.State == detect.Firing:
		d.fire(&after, from, o, now)
	case f.State != from && shared:
		d.findingStep(&after, from, now, noteShared)
	case f.State != from:
		d.step(&after, from, now, "")
		if f.State == detect.Resolved && before.notified {
			d.notify(&after, detect.EventResolved, o)
		}
		after.notified = false
	case worse(f.Severity, before.finding.Severity) && !shared:
		d.step(&after, from, now, fmt.Sprintf("severity rises from %s", before.finding.Severity))
	case worse(f.Severity, before.finding.Severity):
		d.findingStep(&after, from, now, fmt.Sprintf("severity rises from %s", before.finding.Severity))
	}
	if from == f.State || shared {
		d.escalate(&after, before, o, now)
	}
	incident, err := incidentRow(&after.incident, before.joins || before.incident.ID == "")
	if err != nil {
		return after, err
	}
	d.put(row(f, document), incident)
	return after, nil
}

// escalate notifies that an incident that was notified has become worse.
func (d *draft) escalate(after *stored, before stored, o Options, now time.Time) {
	was := before.incident.Severity
	if before.incident.ID == "" {
		was = before.finding.Severity
	}
	if worse(after.incident.Severity, was) && before.notified && !tooOld(after.finding, o, now) {
		d.notify(after, detect.EventUpdated, o)
	}
}

// incidentRow returns an incident as it is stored; its findings only of a new one,
// since they do not change.
func incidentRow(i *detect.Incident, isNew bool) (store.Incident, error) {
	document, err := json.Marshal(i)
	if err != nil {
		return store.Incident{}, fmt.Errorf("write incident %s: %w", i.ID, err)
	}
	stored := store.Incident{
		ID: i.ID, Cause: string(i.Cause), Target: i.Target, Severity: string(i.Severity), State: string(i.State),
		OpenedAt: i.OpenedAt, LastSeen: i.LastSeen, Revision: int64(i.Revision), Root: i.Root, Document: document,
	}
	if i.FiredAt != nil {
		stored.FiredAt = *i.FiredAt
	}
	if i.ResolvedAt != nil {
		stored.ResolvedAt = *i.ResolvedAt
	}
	if isNew {
		stored.Findings = i.Findings
	}
	return stored, nil
}

// fire records that a finding fires, and notifies unless that is too long ago.
func (d *draft) fire(after *stored, from detect.State, o Options, now time.Time) {
	if after.notified = !tooOld(after.finding, o, now); !after.notified {
		d.step(after, from, now, noteTooOld)
		return
	}
	d.step(after, from, now, "")
	d.notify(after, detect.EventFiring, o)
}

// tooOld reports whether the finding's newest second is too long ago to notify.
func tooOld(f detect.Finding, o Options, now time.Time) bool {
	return now.Sub(f.LastSeen) > o.PageWithin
}

// findingStep drafts one entry of the history of a finding.
func (d *draft) findingStep(after *stored, from detect.State, now time.Time, note string) {
	f := &after.finding
	d.transitions = append(d.transitions, store.Transition{
		Fingerprint: f.Fingerprint, At: now, From: string(from), To: string(f.State),
		Severity: string(f.Severity), Note: note,
	})
}

// step drafts one entry of the history of a finding and of its incident.
func (d *draft) step(after *stored, from detect.State, now time.Time, note string) {
	f := &after.finding
	d.findingStep(after, from, now, note)
	d.incidentTransitions = append(d.incidentTransitions, store.IncidentTransition{
		Incident: f.Incident, At: now, From: string(from), To: string(f.State),
		Severity: string(f.Severity), Note: note,
	})
}

// notify drafts a notification for each route, and raises the incident's revision.
func (d *draft) notify(after *stored, event detect.Event, o Options) {
	i := &after.incident
	i.Revision++
	for _, route := range o.Routes {
		d.notifications = append(d.notifications, store.Notification{
			ID:          detect.NotificationID(i.ID, i.OpenedAt, i.Revision, event, route),
			Fingerprint: after.finding.Fingerprint, Incident: i.ID, Event: string(event), Route: route, Payload: after.document,
		})
	}
}

func worse(a, b detect.Severity) bool { return a == detect.Critical && b == detect.Warning }

// MaxKnown bounds what is remembered of stored findings. What is forgotten is
// loaded again.
const MaxKnown = 64 << 10

// apply takes over what was written.
func (k known) apply(d *draft) {
	if len(k) > MaxKnown {
		clear(k)
	}
	for fingerprint, s := range d.after {
		k[fingerprint] = s
	}
}
