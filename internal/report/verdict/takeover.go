package verdict

import (
	"time"

	"github.com/keyheat/keyheat/detect"
)

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
	before, _ := s.stored(f.Fingerprint)
	if i, known := s.incident(before.incident); known && i.State == detect.Firing && f.State != detect.Resolved {
		return &i
	}
	return nil
}

// firesAlone reports whether findings of a kind have an incident that fires without one
// that explains it: people are told of it, whatever its cause.
func firesAlone(k detect.Kind) bool {
	return k.OfKey() || k == detect.HotPartition || k == detect.TableStarvation
}
