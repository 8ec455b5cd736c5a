package verdict

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/answer"
	"github.com/keyheat/keyheat/internal/alert/routing"
	"github.com/keyheat/keyheat/store"
)

// maxFindings bounds the findings that an incident keeps: a key named after the
// second has a new one each second.
const maxFindings = 1000

// incident is the state of an incident that is stored, or drafted.
type incident struct {
	detect.Incident
	document []byte
}

// wasNotified reports whether the incident's firing was notified, so that its end will
// be.
func (i *incident) wasNotified() bool { return i.State == detect.Firing && i.Announced }

// compareIncidents drafts the incidents that findings of one moment are evidence of.
func (s *State) compareIncidents(found []detect.Finding, now time.Time) error {
	present := make(map[string]bool, len(found))
	for i := range found {
		if found[i].State != detect.Resolved {
			present[found[i].Incident] = true
		}
	}
	all := detect.Incidents(found)
	// Ended ones come last: another incident may continue them.
	slices.SortStableFunc(all, func(a, b detect.Incident) int {
		return cmp.Compare(boolToInt(a.State == detect.Resolved), boolToInt(b.State == detect.Resolved))
	})
	for i := range all {
		policy := s.policy(all[i].Target)
		root, _ := s.storedFinding(all[i].Root)
		all[i].Owner, all[i].Labels, all[i].RunbookURL = policy.Owner, maps.Clone(policy.Labels), policy.Runbook(root.finding.Kind)
		if all[i].Labels == nil {
			all[i].Labels = map[string]string{}
		}
		own, has := s.incident(all[i].ID)
		before, left := own, s.leftFor(&all[i], present)
		takesOver := own.State == detect.Pending && slices.ContainsFunc(left, func(l incident) bool { return l.State == detect.Firing })
		if !has || takesOver || own.State == detect.Resolved && all[i].State != detect.Resolved {
			before = incident{}
			for _, joined := range left {
				before = joined // what people know of goes on under another name
			}
		}
		hold(&all[i], found, before, policy)
		if s.held[all[i].ID] != "" && all[i].State == detect.Firing {
			all[i].State = detect.Pending
		}
		all[i].ClaimedBy = s.claims[all[i].ID]
		if err := s.compareIncident(all[i], before, own, now); err != nil {
			return err
		}
		for _, joined := range left {
			if err := s.closeJoined(joined, all[i].ID, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// incident returns the stored or drafted state of an incident.
func (s *State) incident(id string) (incident, bool) {
	if i, drafted := s.draft.after.incidents[id]; drafted {
		return i, true
	}
	i, known := s.known.incidents[id]
	return i, known
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// leftFor returns the open incidents that lost all of their open findings to another one,
// once its cause was seen: the first keys of a sorted import are hot keys until there
// are several. It notes of each finding where it is now.
func (s *State) leftFor(i *detect.Incident, present map[string]bool) (left []incident) {
	for _, fingerprint := range i.Findings {
		f, known := s.storedFinding(fingerprint)
		if !known || f.incident == i.ID {
			continue
		}
		if id := f.incident; id != "" && id != i.ID && !present[id] && firesAlone(f.finding.Kind) {
			if joined, is := s.incident(id); is && joined.State != detect.Resolved &&
				!slices.ContainsFunc(left, func(l incident) bool { return l.ID == id }) {
				left = append(left, joined)
			}
		}
		f.incident = i.ID
		s.draft.after.findings[fingerprint] = f
	}
	slices.SortFunc(left, func(a, b incident) int { return a.OpenedAt.Compare(b.OpenedAt) })
	return left
}

// compareIncident drafts the steps of an incident from the state that it continues to the
// present; own is stored under its own ID. Its revision continues from the higher one of
// both, because a notification's ID contains it.
func (s *State) compareIncident(now detect.Incident, before, own incident, at time.Time) error {
	after := incident{Incident: continueIncident(before, now, at)}
	i, old, was, o := &after.Incident, before.State, own.State, s.options
	i.Revision = max(i.Revision, own.Revision)
	s.keepFiring(i, old, at)
	s.silence(i)
	notified := before.wasNotified()
	var err error
	switch {
	case i.State == detect.Firing && old != detect.Firing && tooOld(i.LastSeen, o, at):
		s.draft.stepIncident(i, was, at, detect.Note{Code: detect.NoteTooOld})
	case i.State == detect.Firing && old != detect.Firing:
		s.draft.stepIncident(i, was, at, silencedNote(i.Silenced))
		err = s.notify(i, detect.EventFiring, at)
	case before.ID != "" && before.ID != i.ID:
		s.draft.stepIncident(i, was, at, detect.Note{Code: detect.NoteContinues, About: before.ID})
		if notified && i.State == detect.Firing {
			if i.Silenced != nil {
				i.Notified, i.Groups = []string{}, nil // of the incident before, of which they are told the end
			}
			err = s.notify(i, detect.EventUpdated, at)
		}
	case i.State != old:
		s.draft.stepIncident(i, was, at, detect.Note{})
		if i.State == detect.Resolved && notified {
			err = s.notify(i, detect.EventResolved, at)
		}
	case s.due(i) && !tooOld(i.LastSeen, o, at):
		s.draft.stepIncident(i, old, at, detect.Note{Code: detect.NoteSilenceEnded})
		err = s.notify(i, detect.EventUpdated, at)
	case worse(i.Severity, before.Severity):
		s.draft.stepIncident(i, old, at, rose(before.Severity))
		if notified && !tooOld(i.LastSeen, o, at) {
			err = s.notify(i, detect.EventUpdated, at)
		}
	case notified && i.Silenced == nil && before.Undecided && !s.isUndecided(i) && now.LastSeen.After(before.LastSeen) && i.LastSeen.Sub(i.OpenedAt) >= verdictPause:
		// A load that has stopped gets no update, but its end.
		s.draft.stepIncident(i, old, at, detect.Note{Code: detect.NoteHealingKnown})
		err = s.notify(i, detect.EventUpdated, at)
	case notified && i.Silenced == nil && s.repeats(i, at):
		s.draft.stepIncident(i, old, at, detect.Note{Code: detect.NoteRepeated})
		err = s.notify(i, detect.EventUpdated, at)
	case notified && i.Silenced == nil && !i.Withheld && !s.isEnding(i) && !tooOld(i.LastSeen, o, at):
		err = s.notifyNew(i, at)
	}
	if err != nil {
		return err
	}
	return s.putIncident(after, before)
}

// closeJoined drafts the end of an incident that another one continues. Every receiver of
// its beginning gets its end, so that nothing stays open for ever.
func (s *State) closeJoined(joined incident, by string, now time.Time) error {
	after := joined
	from := joined.State
	after.State, after.ResolvedAt = detect.Resolved, &now
	s.silence(&after.Incident)
	s.leaveGroups(&after.Incident, now)
	s.draft.stepIncident(&after.Incident, from, now, detect.Note{Code: detect.NoteContinuedBy, About: by})
	if joined.wasNotified() {
		if err := s.notify(&after.Incident, detect.EventResolved, now); err != nil {
			return err
		}
	}
	return s.putIncident(after, joined)
}

// putIncident drafts an incident, if anything of it changed.
func (s *State) putIncident(after, before incident) error {
	row, document, err := incidentRow(&after.Incident)
	if err != nil {
		return err
	}
	if ending, waits := s.ending[after.ID]; waits {
		ending.incident = after
		s.ending[after.ID] = ending
	}
	after.document = document
	if before.ID == after.ID && bytes.Equal(document, before.document) {
		return nil
	}
	if before.ID != after.ID || !slices.Equal(before.Findings, after.Findings) {
		row.Findings = after.Findings
	}
	s.draft.putIncident(row)
	s.draft.after.incidents[after.ID] = after
	return nil
}

// continueIncident returns an incident as it is now: the stored one goes on until it is
// resolved, as severe as it was at worst, and firing once it fired.
func continueIncident(before incident, i detect.Incident, now time.Time) detect.Incident {
	if before.ID != "" && (before.State != detect.Resolved || i.State == detect.Resolved) {
		i.Account, i.Region = cmp.Or(i.Account, before.Account), cmp.Or(i.Region, before.Region)
		if i.ID == before.ID {
			i.Cause = before.Cause
		}
		i.OpenedAt, i.FiredAt, i.ResolvedAt = before.OpenedAt, before.FiredAt, before.ResolvedAt
		i.Revision, i.Announced, i.Undecided = before.Revision, before.Announced, before.Undecided
		i.Notified, i.Groups, i.Withheld = slices.Clone(before.Notified), slices.Clone(before.Groups), before.Withheld
		if detect.Rank(before.Severity) > detect.Rank(i.Severity) {
			i.Severity = before.Severity
		}
		if before.State == detect.Firing && i.State == detect.Pending {
			i.State = detect.Firing
		}
		if before.LastSeen.After(i.LastSeen) {
			i.LastSeen = before.LastSeen
		}
		for _, f := range before.Findings {
			if len(i.Findings) < maxFindings && !slices.Contains(i.Findings, f) {
				i.Findings = append(i.Findings, f)
			}
		}
	}
	if i.State == detect.Firing && i.FiredAt == nil {
		i.FiredAt = &now
	}
	if i.State == detect.Resolved && i.ResolvedAt == nil {
		i.ResolvedAt = &now
	}
	return i
}

// incidentRow returns an incident as it is stored, without its findings.
func incidentRow(i *detect.Incident) (row store.Incident, document []byte, err error) {
	if document, err = json.Marshal(i); err != nil {
		return row, nil, fmt.Errorf("write incident %s: %w", i.ID, err)
	}
	row = store.Incident{
		ID: i.ID, Cause: string(i.Cause), Target: i.Target, Severity: string(i.Severity), State: string(i.State),
		OpenedAt: i.OpenedAt, LastSeen: i.LastSeen, Revision: int64(i.Revision), Root: i.Root, Document: document,
	}
	if i.FiredAt != nil {
		row.FiredAt = *i.FiredAt
	}
	if i.ResolvedAt != nil {
		row.ResolvedAt = *i.ResolvedAt
	}
	return row, document, nil
}

// stepIncident drafts one entry of the history of an incident.
func (d *draft) stepIncident(i *detect.Incident, from detect.State, now time.Time, why detect.Note) {
	d.IncidentTransitions = append(d.IncidentTransitions, transition(i.ID, from, i.State, i.Severity, now, why))
}

// silencedNote is the note of an incident that fires silenced; empty otherwise.
func silencedNote(by *detect.Silenced) detect.Note {
	if by == nil {
		return detect.Note{}
	}
	return detect.Note{Code: detect.NoteSilenced, About: by.By, Until: by.Until}
}

// notify drafts a notification for each receiver with messages of its own, changes the
// groups of the others, and raises the incident's revision. A receiver without the
// beginning, because it takes only worse severities, gets it as firing; each receiver of
// the beginning gets the end. While a silence matches the incident it notes that a
// message is withheld. Ends of earlier messages are sent nevertheless, because a pager
// would show them for ever.
func (s *State) notify(i *detect.Incident, event detect.Event, now time.Time) error {
	if i.Withheld = i.Silenced != nil; i.Withheld {
		return nil
	}
	i.Revision++
	i.Announced, i.Undecided = event != detect.EventResolved, s.isUndecided(i)
	if s.told[i.ID] = now; event == detect.EventResolved {
		delete(s.told, i.ID)
	}
	root, _ := s.storedFinding(i.Root)
	return s.tellAlone(i, &root, event, s.tellGroups(i, &root.finding, event, now))
}

// notifyNew drafts the beginning of an incident for the receivers that the routes did not name
// before: they are new in the settings. The other receivers hear nothing.
func (s *State) notifyNew(i *detect.Incident, now time.Time) error {
	root, _ := s.storedFinding(i.Root)
	var alone []telling
	for _, d := range s.route(i, &root.finding) {
		if slices.Contains(i.Notified, d.Receiver) {
			continue
		}
		if d.Group == nil || !s.join(d, i, &root.finding, now) {
			alone = append(alone, telling{d.Receiver, detect.EventFiring})
		}
		i.Notified = append(i.Notified, d.Receiver)
	}
	if len(alone) > 0 {
		i.Revision++
	}
	return s.tellAlone(i, &root, detect.EventFiring, alone)
}

// tellAlone drafts the messages of receivers with messages of their own.
func (s *State) tellAlone(i *detect.Incident, root *stored, event detect.Event, alone []telling) error {
	if len(alone) == 0 {
		return nil
	}
	payload, err := s.payload(i, root, event, nil)
	if err != nil {
		return fmt.Errorf("write the notification of incident %s: %w", i.ID, err)
	}
	for _, to := range alone {
		s.draft.Notifications = append(s.draft.Notifications, store.Notification{
			ID:          detect.NotificationID(i.ID, i.OpenedAt, i.Revision, to.event, to.receiver),
			Fingerprint: i.Root, Incident: i.ID, Event: string(to.event), Route: to.receiver, Payload: payload,
		})
	}
	return nil
}

// verdictPause is how long an episode lasts before an update tells the verdict on its
// first message: a verdict of its first seconds may change.
const verdictPause = 30 * time.Second

// isUndecided reports whether it is still open if an incident heals by itself.
func (s *State) isUndecided(i *detect.Incident) bool {
	root, known := s.storedFinding(i.Root)
	return known && answer.New(&root.finding).Healing.Outlook == answer.Open
}

// payload returns the outbox's payload for a notification of an incident, or of a group
// whose worst incident it is.
func (s *State) payload(i *detect.Incident, root *stored, event detect.Event, of *detect.Group) ([]byte, error) {
	p, err := detect.NewPayload(i, root.document)
	if err != nil {
		return nil, err
	}
	p.Group = of
	if event != detect.EventResolved {
		p.Recent, p.Related = s.board.Recent(&root.finding, s.seed), s.listRelated(i)
	}
	return json.Marshal(p)
}

// listRelated returns the fingerprints of the worst open findings of an incident beside its
// root.
func (s *State) listRelated(i *detect.Incident) (all []string) {
	var open []detect.Finding
	for _, fingerprint := range i.Findings {
		if f, known := s.storedFinding(fingerprint); known && fingerprint != i.Root && f.finding.State != detect.Resolved {
			open = append(open, f.finding)
		}
	}
	slices.SortStableFunc(open, func(a, b detect.Finding) int {
		return cmp.Or(cmp.Compare(detect.Rank(b.Severity), detect.Rank(a.Severity)), cmp.Compare(b.Utilization, a.Utilization))
	})
	for n := range open[:min(len(open), detect.RelatedFindings)] {
		all = append(all, open[n].Fingerprint)
	}
	return all
}

// route returns the receivers of an incident with its root finding.
func (s *State) route(i *detect.Incident, root *detect.Finding) []routing.Destination {
	if s.options.Route == nil {
		return nil
	}
	return s.options.Route(i, root)
}
