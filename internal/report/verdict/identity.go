package verdict

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
)

// A table's account and Region may become known while it has findings, because a
// collector or a producer begins to tell them, or be lost again with an older one
// beside. The finding that then begins is about the same key under another target:
// it joins the incident of the one that is open, and nobody is paged twice.

// subject is what findings are about, whatever is known of the table's account and
// Region.
type subject struct {
	kind                       detect.Kind
	table, index, keyType, key string
}

func subjectOf(f *detect.Finding) subject {
	return subject{f.Kind, f.Table, f.Index, f.KeyType, f.Key}
}

// unresolved are the findings that are not resolved: by subject, and then the
// target of each by its fingerprint.
type unresolved map[subject]map[string]detect.Target

// record takes over a finding's state.
func (u unresolved) record(f *detect.Finding) {
	of := subjectOf(f)
	if f.State == detect.Resolved {
		if delete(u[of], f.Fingerprint); len(u[of]) == 0 {
			delete(u, of)
		}
		return
	}
	if u[of] == nil {
		u[of] = make(map[string]detect.Target, 1)
	}
	u[of][f.Fingerprint] = f.Target
}

// twins returns the fingerprints of the other findings that may be about the same
// key as this one, in the order of their targets.
func (u unresolved) twins(f *detect.Finding) []string {
	of := u[subjectOf(f)]
	var all []string
	for fingerprint, target := range of {
		if fingerprint != f.Fingerprint && target.MayBe(f.Target) {
			all = append(all, fingerprint)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return of[a].Compare(of[b]) })
	return all
}

// storedOf returns what is stored of a finding, or about to be.
func (s *State) storedOf(fingerprint string) stored {
	if drafted, is := s.draft.after[fingerprint]; is {
		return drafted
	}
	return s.known[fingerprint]
}

// join gives a finding that has no incident of its own that of a twin, and returns
// what is stored of it then.
func (s *State) join(f *detect.Finding, before stored) stored {
	begins := before.incident.ID == "" || before.finding.State == detect.Resolved
	if !begins || f.State == detect.Resolved {
		return before
	}
	for _, fingerprint := range s.unresolved.twins(f) {
		twin := s.storedOf(fingerprint)
		if i := &twin.incident; i.ID != "" && i.State != detect.Resolved && i.MayBe(f.Target) {
			before.incident, before.notified, before.joins = twin.incident, twin.notified, true
			break
		}
	}
	return before
}

// others returns the incident's other findings that are not resolved, as they are
// stored.
func (s *State) others(f *detect.Finding, i *detect.Incident) (all []stored) {
	of := s.unresolved[subjectOf(f)]
	for _, fingerprint := range i.Findings {
		if _, open := of[fingerprint]; open && fingerprint != f.Fingerprint {
			if other := s.storedOf(fingerprint); other.incident.ID == i.ID {
				all = append(all, other)
			}
		}
	}
	return all
}

// share has the incident's other findings refer to it as it is now.
func (s *State) share(after stored) {
	for _, fingerprint := range after.incident.Findings {
		other := s.storedOf(fingerprint)
		if fingerprint != after.finding.Fingerprint && other.incident.ID == after.incident.ID {
			other.incident, other.notified = after.incident, after.notified
			s.draft.after[fingerprint] = other
		}
	}
}

// continued returns the incident of a finding: the stored one as it is now, or,
// when the finding begins another episode, a new one. It is of the other open
// findings too: it fires while one of them may, and is over when all are.
func continued(before stored, f *detect.Finding, others []stored, now time.Time) detect.Incident {
	i, old := detect.NewIncident(f), before.incident
	if old.ID != "" && (before.joins || before.finding.State != detect.Resolved || f.State == detect.Resolved) {
		own := i
		i.ID, i.OpenedAt, i.FiredAt, i.ResolvedAt, i.Revision = old.ID, old.OpenedAt, old.FiredAt, old.ResolvedAt, old.Revision
		if len(others) > 0 && !leads(f, &old, others) {
			i = old
		}
		i.Findings = old.Findings
		if !slices.Contains(i.Findings, f.Fingerprint) {
			i.Findings = append(slices.Clone(i.Findings), f.Fingerprint)
			slices.Sort(i.Findings)
		}
		i.Account, i.Region = cmp.Or(own.Account, old.Account), cmp.Or(own.Region, old.Region)
		if old.LastSeen.After(own.LastSeen) {
			i.LastSeen = old.LastSeen
		} else {
			i.LastSeen = own.LastSeen
		}
		if len(others) > 0 {
			i.Severity, i.State = own.Severity, own.State
			for _, other := range others {
				if detect.Rank(other.finding.Severity) > detect.Rank(i.Severity) {
					i.Severity = other.finding.Severity
				}
			}
			if f.State != detect.Firing {
				i.State = old.State // it goes on in the others
			}
		}
	}
	if f.State == detect.Firing && i.FiredAt == nil {
		i.FiredAt = &now
	}
	if i.State == detect.Resolved && i.ResolvedAt == nil {
		i.ResolvedAt = &now
	}
	return i
}

// leads reports whether the incident is to be told by this finding, and not by its
// root: of several that are open, by the one of whose table most is known.
func leads(f *detect.Finding, i *detect.Incident, others []stored) bool {
	if f.State == detect.Resolved {
		return false
	}
	for _, other := range others {
		if other.finding.Fingerprint == i.Root {
			return knows(f.Target) > knows(other.finding.Target)
		}
	}
	return true
}

// knows counts what is known of where a table is.
func knows(t detect.Target) (n int) {
	for _, text := range []string{t.Account, t.Region} {
		if text != "" {
			n++
		}
	}
	return n
}
