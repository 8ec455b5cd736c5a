package verdict

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/store"
)

// hold keeps an incident from firing if the policy wants lasting harm: one of hot keys
// without it, or one that has not held for long enough. Its severity is then the lasting
// one, too: one second over a limit makes no warning critical.
func hold(i *detect.Incident, found []detect.Finding, before incident, p detect.Policy) {
	if i.Cause == detect.CausePipeline {
		return // what makes these has waited already, and a gap has no length
	}
	holds := false
	if p.LifecycleOf(i.Severity).OnHarm {
		if lasting, ofKeys := lasting(i, found); ofKeys {
			holds = lasting == ""
			i.Severity = milder(i.Severity, cmp.Or(lasting, detect.Warning))
		}
	}
	opened := i.OpenedAt
	if before.ID != "" && before.OpenedAt.Before(opened) {
		opened = before.OpenedAt
	}
	holds = holds || i.LastSeen.Sub(opened) < p.LifecycleOf(i.Severity).For
	if holds && i.State == detect.Firing && before.State != detect.Firing {
		i.State = detect.Pending
	}
}

// lasting returns the lasting severity of an incident's hot keys; false if none of them
// fires or has fired, and another finding does.
func lasting(i *detect.Incident, found []detect.Finding) (most detect.Severity, ofKeys bool) {
	for n := range found {
		f := &found[n]
		if f.Incident != i.ID || !f.Kind.OfKey() || f.State == detect.Pending {
			continue
		}
		ofKeys = true
		if detect.Rank(f.Lasting) > detect.Rank(most) {
			most = f.Lasting
		}
	}
	return most, ofKeys
}

func milder(a, b detect.Severity) detect.Severity {
	if detect.Rank(a) < detect.Rank(b) {
		return a
	}
	return b
}

// ending is an incident that is over but for the time that it goes on firing.
type ending struct {
	incident incident
	at       time.Time
}

// SetOpen records the stored firing incidents whose roots are set. An incident without an
// open finding was about to end under the previous judge.
func (s *State) SetOpen(rows []store.Incident, unresolved []detect.Finding) error {
	for n := range rows {
		id := rows[n].ID
		root, stored := s.known.findings[rows[n].Root]
		if !stored {
			continue
		}
		if err := s.setIncident(&rows[n]); err != nil {
			return err
		}
		root.incident = id
		s.known.findings[rows[n].Root] = root
		i := s.known.incidents[id]
		if !slices.ContainsFunc(unresolved, func(f detect.Finding) bool { return f.Incident == id }) {
			s.ending[id] = ending{i, s.overSince(&i.Incident).Add(s.policy(i.Target).LifecycleOf(i.Severity).KeepFiring)}
		}
	}
	return nil
}

// keepFiring has an incident go on that is over too lately to be sure.
func (s *State) keepFiring(i *detect.Incident, old detect.State, now time.Time) {
	if i.State != detect.Resolved || old != detect.Firing {
		if i.State == detect.Firing {
			delete(s.ending, i.ID)
		}
		return
	}
	if until := s.overSince(i).Add(s.policy(i.Target).LifecycleOf(i.Severity).KeepFiring); now.Before(until) {
		i.State, i.ResolvedAt = detect.Firing, nil
		s.ending[i.ID] = ending{at: until} // putIncident adds the incident
		return
	}
	delete(s.ending, i.ID)
}

// overSince returns the last hot second of an incident that is over. A key that a split has
// healed is as hot as before: it is over since that was certain.
func (s *State) overSince(i *detect.Incident) (at time.Time) {
	for _, fingerprint := range i.Findings {
		f, known := s.storedFinding(fingerprint)
		if !known {
			continue
		}
		last := f.finding.LastSeen
		if h := f.finding.Healed; h != nil {
			last = h.Since.Add(detect.HealedSeconds * time.Second)
		}
		if last.After(at) {
			at = last
		}
	}
	if at.IsZero() || at.After(i.LastSeen) {
		return i.LastSeen
	}
	return at
}

// end drafts the end of the incidents that have gone on firing for long enough.
func (s *State) end(now time.Time) error {
	for _, id := range slices.Sorted(maps.Keys(s.ending)) {
		e := s.ending[id]
		after := e.incident
		if now.Before(e.at) {
			if by := after.Silenced; by != nil && !s.Silences.Has(by.By) {
				after.Silenced = nil // told only if it goes on
				if err := s.putIncident(after, e.incident); err != nil {
					return err
				}
			}
			continue
		}
		delete(s.ending, id)
		if after.State != detect.Firing {
			continue // another one continues it
		}
		after.State, after.ResolvedAt = detect.Resolved, &now
		s.silence(&after.Incident)
		s.draft.stepIncident(&after.Incident, detect.Firing, now, detect.Note{})
		if e.incident.wasNotified() {
			if err := s.notify(&after.Incident, detect.EventResolved, now); err != nil {
				return err
			}
		}
		if err := s.putIncident(after, e.incident); err != nil {
			return err
		}
	}
	return nil
}

// Ending returns the fingerprints of the roots, not yet loaded, of incidents that end
// now.
func (s *State) Ending(now time.Time) (roots []string) {
	for _, e := range s.ending {
		if _, known := s.storedFinding(e.incident.Root); !known && !now.Before(e.at) {
			roots = append(roots, e.incident.Root)
		}
	}
	return roots
}

// repeats reports whether an incident's repetition is due. The time since the last
// message begins anew with each judge.
func (s *State) repeats(i *detect.Incident, now time.Time) bool {
	every := s.policy(i.Target).LifecycleOf(i.Severity).Repeat
	if every <= 0 || i.State != detect.Firing {
		return false
	}
	told, known := s.told[i.ID]
	if !known {
		s.told[i.ID] = now
		return false
	}
	return now.Sub(told) >= every
}

// silence notes the silence of an incident. An ended incident has no withheld message: an
// end without a beginning is not sent.
func (s *State) silence(i *detect.Incident) {
	if i.Silenced = nil; i.State == detect.Resolved {
		i.Withheld = false
		return
	}
	root, _ := s.storedFinding(i.Root)
	i.Silenced = s.Silences.Match(i, &root.finding)
}

// due reports whether an incident with a withheld message is no longer silenced and still
// fires: not only because its end is too recent to be sure.
func (s *State) due(i *detect.Incident) bool {
	return i.Withheld && i.Silenced == nil && i.State == detect.Firing && !s.isEnding(i)
}

// isEnding reports whether an incident is over and fires on for a while.
func (s *State) isEnding(i *detect.Incident) bool {
	_, over := s.ending[i.ID]
	return over
}
