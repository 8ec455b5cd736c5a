package incident

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
)

// Member is a finding of one moment on its way to an incident.
type Member struct {
	*detect.Finding
	// Current is the incident that its stored, open finding belongs to, and Twin the one of
	// an open finding about the same key of a table that may be the same; empty for none.
	Current, Twin string
}

// assign returns the incident of each finding, in their order. A finding names the incident
// that its cause makes ([detect.Finding.Incident]). An open finding stays where it is. The
// other findings of its cause join it there: when the third key of a sorted import shows
// what the first two were, people read so under the incident that they know.
//
// open returns an incident that is pending or firing; nil for none.
func assign(members []Member, homes map[string]string, open func(id string) *detect.Incident) []string {
	to := make([]string, len(members))
	for n, m := range members {
		if to[n] = homes[m.Incident]; m.stays(open) {
			to[n] = m.Current
		}
	}
	return to
}

// stays reports whether a finding goes on, or ends, in the incident that it belongs to.
func (m *Member) stays(open func(string) *detect.Incident) bool {
	return m.Current != "" && (m.State == detect.Resolved || open(m.Current) != nil)
}

// findHomes returns, by the incident that a cause makes, the one that its findings join: the
// first open one among those that its open findings are in, firing ones first; else its own.
func findHomes(members []Member, open func(id string) *detect.Incident) map[string]string {
	candidates := make(map[string][]*detect.Incident)
	for n := range members {
		m := &members[n]
		ids := []string{m.Incident}
		if m.State != detect.Resolved {
			ids = append(ids, m.Current, m.Twin)
		}
		for _, id := range ids {
			if i := open(id); i != nil {
				candidates[m.Incident] = append(candidates[m.Incident], i)
			}
		}
	}
	homes := make(map[string]string, len(members))
	for n := range members {
		made := members[n].Incident
		if homes[made] = made; len(candidates[made]) > 0 {
			homes[made] = slices.MinFunc(candidates[made], byStanding).ID
		}
	}
	return homes
}

// byStanding orders open incidents: the one that people know best comes first.
func byStanding(a, b *detect.Incident) int {
	return cmp.Or(
		detect.BoolToInt(a.State != detect.Firing)-detect.BoolToInt(b.State != detect.Firing),
		a.OpenedAt.Compare(b.OpenedAt),
		cmp.Compare(a.ID, b.ID),
	)
}

// settle is for how long, in event time, a change of cause must hold before a message
// names it. Two keys have all load of a table until a third one comes.
const settle = time.Minute

// merges returns the open incidents that others continue, and which: all open findings of
// such an incident have a cause whose findings join the other one. One that fires is merged
// once this has held for a minute, and claimed meanwhile. Nobody knows of one that is pending.
func merges(members []Member, to []string, homes map[string]string, open func(id string) *detect.Incident, moment time.Time) (merged map[string]string, claims map[string]*detect.Turn) {
	into := make(map[string]string)
	for n := range members {
		from, home := to[n], homes[members[n].Incident]
		if members[n].State == detect.Resolved || open(from) == nil {
			continue
		}
		if other, seen := into[from]; seen && other != home {
			home = from // its findings have several causes: it goes on
		}
		into[from] = home
	}
	merged, claims = make(map[string]string), make(map[string]*detect.Turn)
	for from, home := range into {
		other := open(home)
		if from == home || other == nil || into[home] != home && into[home] != "" {
			continue
		}
		turn := turnOf(open(from).Claim, home, moment)
		if open(from).State != detect.Firing || other.State == detect.Firing && moment.Sub(turn.Since) >= settle {
			merged[from] = home
		} else {
			claims[from] = turn
		}
	}
	return merged, claims
}

// turnOf continues a change that has begun, or begins it.
func turnOf(before *detect.Turn, to string, moment time.Time) *detect.Turn {
	if before != nil && before.To == to {
		return before
	}
	return &detect.Turn{To: to, Since: moment}
}
