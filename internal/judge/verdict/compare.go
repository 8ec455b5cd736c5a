package verdict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
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
// [State.Unknown] and [State.Unforeseen] must be loaded before.
func (s *State) Compare(now time.Time) error {
	observations := s.observations
	s.observations = nil
	defer clear(s.rows)
	for len(observations) > 0 {
		moment := observations[:1+slices.IndexFunc(observations, func(o observation) bool { return o.last })]
		observations = observations[len(moment):]
		if err := s.compareMoment(moment, now); err != nil {
			return err
		}
	}
	if err := s.end(now); err != nil {
		return err
	}
	return s.tellDueGroups(now)
}

// compareMoment drafts the changes of one moment's findings, and then of their incidents.
func (s *State) compareMoment(moment []observation, now time.Time) error {
	s.continueKnown(moment)
	s.holdCauses(moment)
	found := make([]detect.Finding, 0, len(moment))
	for i := range moment {
		f := moment[i].finding
		f.Quality.Gaps = gapsOf(&f, s.Gaps)
		policy := s.policy(f.Target)
		forecast.Apply(&f, s.forecastOf(&f, moment[i].newest), policy.Headroom)
		before, _ := s.storedFinding(f.Fingerprint)
		s.cloudWatch.assess(&f, policy)
		if policy.HoldUnconfirmed && s.cloudWatch.holds(&f, before.finding.State, now) {
			f.State = detect.Pending
		}
		if old := before.finding; f.State == detect.Resolved && old.Incident != "" && !f.FirstSeen.After(old.LastSeen) {
			f.Incident = old.Incident // what else was hot then may be forgotten by now
		}
		if isShorter(&f, before) {
			f = before.finding
			f.State = detect.Resolved
		}
		document, err := json.Marshal(f)
		if err != nil {
			return fmt.Errorf("write finding %s: %w", f.Fingerprint, err)
		}
		if isOlder(f, before) {
			f = before.finding
		} else if !bytes.Equal(before.document, document) {
			s.draft.after.findings[f.Fingerprint] = s.draft.compare(f, before, document, s.options, now)
			s.unresolved.record(&f)
		}
		found = append(found, f)
		if f.State == detect.Resolved {
			delete(s.restored, f.Fingerprint) // only now that what is stored of it is loaded
		}
	}
	return s.compareIncidents(found, now)
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
