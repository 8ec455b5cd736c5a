package incident

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
)

// Moment is what the findings of one moment say of all incidents.
type Moment struct {
	// To are the incidents that the findings are evidence of, in their order.
	To []string
	// Merged are the incidents that end now because another one continues them.
	Merged []Merged
	// Evidence is what is proven of each incident that has a finding.
	Evidence []Evidence
}

// none is an incident that is not stored.
var none detect.Incident

// Merged is an incident, and the one that continues it.
type Merged struct{ From, Into string }

// Compare returns what the findings of a moment say. stored returns an incident by its ID,
// nil for none. The moment is the newest second seen.
func Compare(members []Member, stored func(id string) *detect.Incident, moment time.Time) Moment {
	open := func(id string) *detect.Incident {
		if i := stored(id); i != nil && i.State != detect.Resolved {
			return i
		}
		return nil
	}
	homes := findHomes(members, open)
	m := Moment{To: assign(members, homes, open)}
	merged, claims := merges(members, m.To, homes, open, moment)
	of := make(map[string][]*detect.Finding)
	var ids []string
	for n := range members {
		if into, merges := merged[m.To[n]]; merges {
			m.To[n] = into
		}
		id := m.To[n]
		if of[id] == nil {
			ids = append(ids, id)
		}
		of[id] = append(of[id], members[n].Finding)
	}
	for _, from := range slices.Sorted(maps.Keys(merged)) {
		m.Merged = append(m.Merged, Merged{from, merged[from]})
	}
	for _, id := range ids {
		before := cmp.Or(stored(id), &none)
		e := gather(id, of[id], before)
		if e.Claim = claims[id]; before.State != detect.Resolved || e.State != detect.Resolved {
			m.Evidence = append(m.Evidence, e)
		}
	}
	return m
}
