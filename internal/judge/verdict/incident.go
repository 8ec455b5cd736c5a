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
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/incident"
	"github.com/keyheat/keyheat/store"
)

// incidentRecord is the state of an incident that is stored, or drafted.
type incidentRecord struct {
	detect.Incident
	document []byte
}

// incident returns the stored or drafted state of an incident.
func (s *State) incident(id string) (incidentRecord, bool) {
	if i, drafted := s.draft.after.incidents[id]; drafted {
		return i, true
	}
	i, known := s.known.incidents[id]
	return i, known
}

// storedIncident is [State.incident] with nil for none.
func (s *State) storedIncident(id string) *detect.Incident {
	if i, known := s.incident(id); known {
		return &i.Incident
	}
	return nil
}

// step drafts the next step of an incident; without evidence it is over.
func (s *State) step(before incidentRecord, e *incident.Evidence, now time.Time) error {
	root, target := before.Root, before.Target
	if e != nil {
		root, target = e.Root, e.Target
	}
	f, _ := s.storedFinding(root)
	policy := s.policy(target)
	if e != nil {
		e.Owner, e.Labels, e.RunbookURL = policy.Owner, maps.Clone(policy.Labels), policy.Runbook(f.finding.Case)
		if e.Labels == nil {
			e.Labels = map[string]string{}
		}
	}
	out := incident.Step(before.Incident, incident.Input{
		Evidence: e, OverSince: s.overSince(&before.Incident, e), Policy: policy, PageWithin: s.options.PageWithin, Now: now, Settled: time.Unix(s.settled, 0),
		Full:      s.draft.isFull(target),
		Undecided: f.finding.Subject != "" && casebook.New(&f.finding).Healing.Outlook == casebook.Open,
		Silenced:  func(i *detect.Incident) *detect.Silenced { return s.Silences.Match(i, &f.finding) },
		Receivers: s.receivers,
	})
	return s.take(out, before, now)
}

func (s *State) receivers(i *detect.Incident) []string {
	if s.options.Receivers == nil {
		return nil
	}
	return s.options.Receivers(i)
}

// take drafts the outcome of a step: the history, the messages and the incident.
func (s *State) take(out incident.Outcome, before incidentRecord, now time.Time) error {
	i := &out.After
	for _, entry := range out.History {
		s.draft.stepIncident(i, entry, now)
	}
	if err := s.tell(i, out.Tell); err != nil {
		return err
	}
	return s.putIncident(i, before)
}

// overSince returns the last harmful second of an incident that is over. A key that a split
// has healed is as hot as before: it is over since that was certain.
func (s *State) overSince(before *detect.Incident, e *incident.Evidence) (at time.Time) {
	findings, last := before.Findings, before.LastSeen
	if e != nil {
		findings = slices.Concat(findings, e.Findings)
		if e.LastSeen.After(last) {
			last = e.LastSeen
		}
	}
	for _, fingerprint := range findings {
		f, known := s.storedFinding(fingerprint)
		if !known {
			continue
		}
		seen := f.finding.LastSeen
		if h := f.finding.Healed; h != nil {
			seen = h.Since.Add(detect.HealedSeconds * time.Second)
		}
		if seen.After(at) {
			at = seen
		}
	}
	if at.IsZero() || at.After(last) {
		return last
	}
	return at
}

// merge drafts the end of an incident that another one continues.
func (s *State) merge(from, into string, now time.Time) error {
	before, known := s.incident(from)
	other, has := s.incident(into)
	if !known || !has || before.State == detect.Resolved {
		return nil
	}
	s.draft.stepIncident(&other.Incident, incident.Entry{From: other.State, Note: detect.Note{Code: detect.NoteContinues, About: from}}, now)
	return s.take(incident.Merge(before.Incident, into, now), before, now)
}

// endLost drafts the end of the open incidents that have no open finding any more: their
// findings are over, and they fired on for a while.
func (s *State) endLost(now time.Time) error {
	for _, id := range s.withoutEvidence() {
		before, _ := s.incident(id)
		if err := s.step(before, nil, now); err != nil {
			return err
		}
	}
	return nil
}

// withoutEvidence returns the open incidents without an open finding.
func (s *State) withoutEvidence() (ids []string) {
	has := make(map[string]bool, len(s.unresolved.findings))
	for _, f := range s.unresolved.findings {
		has[f.Incident] = true
	}
	for _, id := range slices.Sorted(maps.Keys(s.open)) {
		if !has[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// UnknownRoots returns the fingerprints of the findings, not yet loaded, that the messages
// about open incidents name.
func (s *State) UnknownRoots() (roots []string) {
	for id := range s.open {
		i, _ := s.incident(id)
		named := []string{i.Root}
		if i.Told != nil && i.Told.Root != "" {
			named = append(named, i.Told.Root)
		}
		for _, root := range named {
			if _, known := s.storedFinding(root); !known {
				roots = append(roots, root)
			}
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// SetOpen records the stored incidents that are pending or fire.
func (s *State) SetOpen(rows []store.Incident) error {
	for n := range rows {
		if err := s.setIncident(&rows[n]); err != nil {
			return err
		}
		s.open[rows[n].ID] = true
	}
	return nil
}

// putIncident drafts an incident, if anything of it changed.
func (s *State) putIncident(i *detect.Incident, before incidentRecord) error {
	if s.open[i.ID] = true; i.State == detect.Resolved {
		delete(s.open, i.ID)
	}
	row, document, err := incidentRow(i)
	if err != nil {
		return err
	}
	if before.ID == i.ID && bytes.Equal(document, before.document) {
		return nil
	}
	if before.ID != i.ID || !slices.Equal(before.Findings, i.Findings) {
		row.Findings = i.Findings
	}
	s.draft.putIncident(row)
	s.draft.after.incidents[i.ID] = incidentRecord{*i, document}
	return nil
}

// incidentRow returns an incident as it is stored, without its findings.
func incidentRow(i *detect.Incident) (row store.Incident, document []byte, err error) {
	if document, err = json.Marshal(i); err != nil {
		return row, nil, fmt.Errorf("write incident %s: %w", i.ID, err)
	}
	row = store.Incident{
		ID: i.ID, Case: string(i.Case), Subject: string(i.Subject), Target: i.Target, Severity: string(i.Severity), State: string(i.State),
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
func (d *draft) stepIncident(i *detect.Incident, entry incident.Entry, now time.Time) {
	d.IncidentTransitions = append(d.IncidentTransitions, transition(i.ID, entry.From, i.State, i.Severity, now, entry.Note))
}

// tell drafts the messages about an incident.
func (s *State) tell(i *detect.Incident, all []incident.Telling) error {
	root, _ := s.storedFinding(i.Root)
	s.draft.told[i.Target] = s.draft.told[i.Target] || len(all) > 0
	payloads := make(map[detect.Event][]byte, 1)
	for _, to := range all {
		payload, written := payloads[to.Event]
		if !written {
			var err error
			if payload, err = s.payload(i, &root, to.Event); err != nil {
				return fmt.Errorf("write the notification of incident %s: %w", i.ID, err)
			}
			payloads[to.Event] = payload
		}
		s.draft.Notifications = append(s.draft.Notifications, store.Notification{
			ID:          detect.NotificationID(i.ID, i.OpenedAt, i.Revision, to.Event, to.Receiver),
			Fingerprint: i.Root, Incident: i.ID, Event: string(to.Event), Route: to.Receiver, Payload: payload,
			Flow: string(i.Severity) + " " + i.Target.Name(), Urgent: i.Severity == detect.Critical,
		})
	}
	return nil
}

// payload returns the outbox's payload for a notification of an incident.
func (s *State) payload(i *detect.Incident, root *stored, event detect.Event) ([]byte, error) {
	p, err := detect.NewPayload(i, root.document)
	if err != nil {
		return nil, err
	}
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
