package verdict

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
)

// A table's account and Region may become known while it has findings, because a
// collector or a producer begins to tell them, or be lost again with an older one
// beside. The finding that then begins is about the same key under another target:
// it joins the incident of the one that is open, and nobody is paged twice.

// subject is the table and key of findings, for any account and Region.
type subject struct {
	kind                       detect.Kind
	table, index, keyType, key string
}

func subjectOf(f *detect.Finding) subject {
	return subject{f.Kind, f.Table, f.Index, f.KeyType, string(f.Key)}
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

// continueKnown gives findings of a moment the ID of the incident that theirs continues:
// the open incident of the same cause, of a table that may be theirs.
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
	before, _ := s.storedFinding(f.Fingerprint)
	i, known := s.incident(before.incident)
	goesOn := known && before.finding.State != detect.Resolved
	if goesOn && i.State != detect.Resolved && f.HasCause(i.Cause) {
		return i.ID
	}
	for _, fingerprint := range s.unresolved.twins(f) {
		twin, _ := s.storedFinding(fingerprint)
		i, known := s.incident(twin.incident)
		if known && i.State != detect.Resolved && i.MayBe(f.Target) && (!goesOn || before.incident == i.ID) {
			return i.ID
		}
	}
	return ""
}

// A cause may be seen for some seconds only: two keys that are hot have all load of a
// table until a third one comes. People would be sent from one incident to the other.

// takeoverAfter is for how long, in event time, a cause must have claimed findings of an
// incident that fires, before its own incident takes them over.
const takeoverAfter = time.Minute

// claims are since when incidents claim findings of others that fire: by the other one's
// ID, and then by their own.
type claims map[string]map[string]time.Time

// holdCauses keeps the findings of a moment in the incidents that fire because of them,
// until another cause has claimed them for long enough. Its incident does not fire
// meanwhile, and the keys that get hot because of it join the one that fires.
func (s *State) holdCauses(moment []observation) {
	s.claims, s.held = make(claims), make(map[string]string)
	ripe := make(map[string]bool)
	for i := range moment {
		f, now := &moment[i].finding, time.Unix(moment[i].newest, 0).UTC()
		from := s.firesFor(f)
		if from == nil || from.ID == f.Incident || !firesAlone(f.Kind) {
			continue
		}
		since, claimed := from.ClaimedBy[f.Incident]
		if !claimed {
			since = now
		}
		if s.claims[from.ID] == nil {
			s.claims[from.ID] = make(map[string]time.Time)
		}
		s.claims[from.ID][f.Incident] = since
		if by, known := s.incident(f.Incident); now.Sub(since) >= takeoverAfter || known && by.State == detect.Firing {
			ripe[f.Incident] = true
		} else if s.held[f.Incident] == "" {
			s.held[f.Incident] = from.ID
		}
	}
	for id := range ripe {
		delete(s.held, id)
	}
	for i := range moment {
		f, now := &moment[i].finding, time.Unix(moment[i].newest, 0)
		if from := s.firesFor(f); from != nil {
			if since, claimed := s.claims[from.ID][f.Incident]; claimed && firesAlone(f.Kind) && now.Sub(since) < takeoverAfter {
				f.Incident = from.ID
			}
		} else if by := s.held[f.Incident]; by != "" && f.Kind.OfKey() && f.State != detect.Resolved {
			f.Incident = by
		}
	}
}

// firesFor returns the incident that fires and has a finding that is not over; nil for
// none.
func (s *State) firesFor(f *detect.Finding) *incident {
	before, _ := s.storedFinding(f.Fingerprint)
	if i, known := s.incident(before.incident); known && i.State == detect.Firing && f.State != detect.Resolved {
		return &i
	}
	return nil
}

// firesAlone reports whether findings of a kind have an incident that fires without an
// explaining one, whatever its cause.
func firesAlone(k detect.Kind) bool {
	return k.OfKey() || k == detect.HotPartition || k == detect.TableStarvation
}
