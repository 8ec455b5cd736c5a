package verdict

import "github.com/keyheat/keyheat/store"

// A pass writes all findings and incidents with a step, and so many of each with new figures
// alone. In a flood the others wait for later passes: stored figures are some seconds old, and
// no transaction is long. A new judge finds them in the stored seconds.
const mostFigures = 500

// takeDue returns what a pass writes of a draft: every step with its findings, incidents and
// messages, and the longest waiting rows beside them. rest is the draft of the others.
func (d *draft) takeDue() (now store.Judgement, rest *draft) {
	now, rest = d.Judgement, newDraft()
	needed := make(map[string]bool)
	for _, steps := range [][]store.Transition{d.Transitions, d.IncidentTransitions} {
		for i := range steps {
			needed[steps[i].Of] = true
		}
	}
	for i := range d.Notifications {
		needed[d.Notifications[i].Incident], needed[d.Notifications[i].Fingerprint] = true, true
	}
	now.Findings = choose(d.Findings, func(f *store.Finding) string { return f.Fingerprint }, needed, func(id string, f store.Finding) {
		put(&rest.Findings, rest.findingAt, id, f)
		rest.after.findings[id] = d.after.findings[id]
	})
	now.Incidents = choose(d.Incidents, func(i *store.Incident) string { return i.ID }, needed, func(id string, i store.Incident) {
		put(&rest.Incidents, rest.incidentAt, id, i)
		rest.after.incidents[id] = d.after.incidents[id]
	})
	return now, rest
}

// choose returns the needed rows and the first mostFigures others, and leaves the rest.
func choose[R any](rows []R, id func(*R) string, needed map[string]bool, leave func(id string, row R)) (chosen []R) {
	room := mostFigures
	for i := range rows {
		key := id(&rows[i])
		switch {
		case needed[key]:
		case room > 0:
			room--
		default:
			leave(key, rows[i])
			continue
		}
		chosen = append(chosen, rows[i])
	}
	return chosen
}

// markWritten forgets what was written of a draft.
func (s *State) markWritten(rest *draft) {
	for id := range rest.findingAt {
		delete(s.draft.after.findings, id)
	}
	for id := range rest.incidentAt {
		delete(s.draft.after.incidents, id)
	}
	s.known.apply(s.draft, s.open)
	s.draft = rest
}
