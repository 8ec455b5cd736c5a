package verdict

import (
	"slices"

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

// continueKnown has findings of a moment whose incident another one continues name
// that one: the open incident of the same cause, told of a table that may be theirs.
func (s *State) continueKnown(moment []observation) {
	by, begun := make(map[string]string), make(map[subject][]*detect.Finding)
	for i := range moment {
		f := &moment[i].finding
		if f.State == detect.Resolved {
			continue
		}
		open := s.openTwin(f)
		if open == "" {
			open = twinOf(begun[subjectOf(f)], f)
			begun[subjectOf(f)] = append(begun[subjectOf(f)], f)
		}
		if _, has := by[f.Incident]; !has && open != "" && open != f.Incident {
			by[f.Incident] = open
		}
	}
	for i := range moment {
		if open, continues := by[moment[i].finding.Incident]; continues {
			moment[i].finding.Incident = open
		}
	}
}

// twinOf returns the incident of the first of these findings that may be of the same
// table; none without one.
func twinOf(begun []*detect.Finding, f *detect.Finding) string {
	for _, twin := range begun {
		if twin.Target != f.Target && twin.MayBe(f.Target) {
			return twin.Incident
		}
	}
	return ""
}

// openTwin returns the ID of the open incident that a finding is evidence of because
// of a twin; none without one.
func (s *State) openTwin(f *detect.Finding) string {
	before, _ := s.stored(f.Fingerprint)
	goesOn := before.incident != "" && before.finding.State != detect.Resolved
	if i, known := s.incident(before.incident); goesOn && known && i.State != detect.Resolved && f.HasCause(i.Cause) {
		return i.ID
	}
	for _, fingerprint := range s.unresolved.twins(f) {
		twin, _ := s.stored(fingerprint)
		i, known := s.incident(twin.incident)
		if known && i.State != detect.Resolved && i.MayBe(f.Target) && (!goesOn || before.incident == i.ID) {
			return i.ID
		}
	}
	return ""
}
