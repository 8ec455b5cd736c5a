package verdict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/incident"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Unknown returns the fingerprints of observations without a known stored state, and of
// findings that may be about the same key, each once.
func (s *State) Unknown() []string {
	var all []string
	asked := make(map[string]bool)
	for i := range s.observations {
		f := &s.observations[i].finding
		for _, fingerprint := range append(s.unresolved.twins(f), f.Fingerprint) {
			if _, known := s.storedFinding(fingerprint); !known && !asked[fingerprint] {
				asked[fingerprint] = true
				all = append(all, fingerprint)
			}
		}
	}
	return all
}

// Compare drafts the observations' changes of the stored or drafted state. The rows of
// [State.Unknown] must be loaded before.
func (s *State) Compare(now time.Time) error {
	observations := s.observations
	s.observations = nil
	for len(observations) > 0 {
		moment := observations[:1+slices.IndexFunc(observations, func(o observation) bool { return o.last })]
		observations = observations[len(moment):]
		if err := s.compareMoment(moment, now); err != nil {
			return err
		}
	}
	return s.endLost(now)
}

// compareMoment drafts the changes of one moment's findings, and then of their incidents.
func (s *State) compareMoment(moment []observation, now time.Time) error {
	found, members := make([]detect.Finding, len(moment)), make([]incident.Member, len(moment))
	begun := make(map[subject][]*detect.Finding)
	for i := range moment {
		found[i] = s.continueFinding(&moment[i], now)
		if members[i] = s.memberOf(&found[i]); members[i].Current == "" && members[i].Twin == "" {
			joinTwin(begun, &found[i])
		}
	}
	m := incident.Compare(members, s.storedIncident, time.Unix(moment[0].newest, 0).UTC())
	for i := range found {
		if err := s.putFinding(found[i], m.To[i], now); err != nil {
			return err
		}
	}
	for _, merged := range m.Merged {
		if err := s.merge(merged.From, merged.Into, now); err != nil {
			return err
		}
	}
	for i := range m.Evidence {
		before, _ := s.incident(m.Evidence[i].ID)
		if err := s.step(before, &m.Evidence[i], now); err != nil {
			return err
		}
	}
	return nil
}

// continueFinding returns the finding that holds after an observation, with what other
// sources say of it. It names the incident that its cause makes now.
func (s *State) continueFinding(seen *observation, now time.Time) detect.Finding {
	f := seen.finding
	f.Quality.Gaps = gapsOf(&f, s.Gaps)
	policy := s.policy(f.Target)
	before, _ := s.storedFinding(f.Fingerprint)
	s.cloudWatch.assess(&f)
	if policy.HoldUnconfirmed && s.cloudWatch.holds(&f, before.finding.State, now) {
		f.State = detect.Pending
	}
	made := f.Incident
	f = incident.Continue(&f, &before.finding, s.settled)
	f.Incident, f.Case = made, casebook.Diagnose(&f)
	return f
}

// memberOf returns a finding with the incidents that it may belong to already.
func (s *State) memberOf(f *detect.Finding) incident.Member {
	m := incident.Member{Finding: f}
	if before, _ := s.storedFinding(f.Fingerprint); !f.FirstSeen.After(before.finding.LastSeen) {
		m.Current = before.finding.Incident
	}
	for _, fingerprint := range s.unresolved.twins(f) {
		if twin := s.unresolved.findings[fingerprint]; m.Twin == "" && s.open[twin.Incident] {
			m.Twin = twin.Incident
		}
	}
	return m
}

// joinTwin gives a finding that begins the cause's incident of an earlier one of the same
// moment that may be about the same key, and adds it to these.
func joinTwin(begun map[subject][]*detect.Finding, f *detect.Finding) {
	of := subjectOf(f)
	for _, twin := range begun[of] {
		if twin.Target != f.Target && twin.MayBe(f.Target) {
			f.Incident = twin.Incident
			break
		}
	}
	begun[of] = append(begun[of], f)
}

// putFinding drafts a finding of an incident, if anything of it changed.
func (s *State) putFinding(f detect.Finding, of string, now time.Time) error {
	before, _ := s.storedFinding(f.Fingerprint)
	f.Incident = of
	document, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write finding %s: %w", f.Fingerprint, err)
	}
	if !bytes.Equal(before.document, document) {
		s.draft.after.findings[f.Fingerprint] = s.draft.compare(f, before, document, s.options, now)
	}
	s.unresolved.record(&f)
	return nil
}

// storedFinding returns the stored or drafted state of a finding.
func (s *State) storedFinding(fingerprint string) (stored, bool) {
	if f, drafted := s.draft.after.findings[fingerprint]; drafted {
		return f, true
	}
	f, known := s.known.findings[fingerprint]
	return f, known
}

// gapsOf returns the gaps within a finding's time, the oldest first: its load may be
// higher than counted, and it may have begun earlier.
func gapsOf(f *detect.Finding, gaps []store.Gap) []sample.Gap {
	until := f.LastSeen
	if f.Through.After(until) {
		until = f.Through
	}
	over := make([]sample.Gap, 0)
	for _, g := range slices.Backward(gaps) {
		if overlaps(g, f.FirstSeen, until.Add(time.Second)) {
			over = append(over, g.Gap)
		}
	}
	return over
}

// overlaps reports whether a record of the gap can lie within [from, to). Lost records
// without a known end were written before the loss was noticed.
func overlaps(g store.Gap, from, to time.Time) bool {
	end := g.Until
	if end.IsZero() {
		end = g.Noticed
	}
	return g.Since.Before(to) && !end.Before(from)
}
