package routing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
)

// maxMembers bounds a group. Incidents beyond it have messages of their own.
const maxMembers = 500

// Group is a set of incidents with common messages to one receiver.
type Group struct {
	// ID is the same in each of the group's lives.
	ID       string `json:"id"`
	Receiver string `json:"receiver"`
	// Labels are the values that make the group, by their names in group_by.
	Labels map[string]string `json:"labels"`
	// Interval is how long after a message the next one is due.
	Interval time.Duration `json:"interval"`
	// Life names this life of the group, after the incident that began it, and Opened is
	// since when that one was hot.
	Life   string    `json:"life"`
	Opened time.Time `json:"opened"`
	// Revision counts the messages of this life, Sent is the time at which the last one
	// was written into the outbox, and Severity the worst of their severities.
	Revision int             `json:"revision"`
	Sent     time.Time       `json:"sent"`
	Severity detect.Severity `json:"severity"`
	// Due is when the next message is; zero while there is nothing to tell.
	Due time.Time `json:"due"`
	// Total counts the incidents of this life. Members are the incidents that fire, or
	// whose end is not yet sent, by their IDs.
	Total   int                `json:"total"`
	Members map[string]*Member `json:"members"`
}

// Member is one incident of a group: the values that order it among the others, without
// other people's text.
type Member struct {
	// ID is the incident's, Root the fingerprint of the finding that it is about.
	ID          string          `json:"id"`
	Root        string          `json:"root"`
	Severity    detect.Severity `json:"severity"`
	Utilization float64         `json:"utilization"`
	// Told reports that a message had it as firing, Changed that it has changed since,
	// and Over that it no longer fires.
	Told    bool `json:"told"`
	Changed bool `json:"changed"`
	Over    bool `json:"over"`
}

// ReadGroup returns a group as it was stored.
func ReadGroup(document []byte) (*Group, error) {
	g := new(Group)
	if err := json.Unmarshal(document, g); err != nil {
		return nil, fmt.Errorf("read a group: %w", err)
	}
	return g, nil
}

// SortedMembers returns the members, firing ones first, then the worst.
func (g *Group) SortedMembers() []*Member {
	return slices.SortedFunc(maps.Values(g.Members), func(a, b *Member) int {
		return cmp.Or(
			cmp.Compare(asInt(a.Over), asInt(b.Over)),
			cmp.Compare(detect.Rank(b.Severity), detect.Rank(a.Severity)),
			cmp.Compare(b.Utilization, a.Utilization),
			cmp.Compare(a.ID, b.ID),
		)
	})
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Firing returns how many members fire.
func (g *Group) Firing() (n int) {
	for _, m := range g.Members {
		n += 1 - asInt(m.Over)
	}
	return n
}

// Event returns the event of a due group; empty if its changes have cancelled out.
func (g *Group) Event() detect.Event {
	switch {
	case g.Firing() == 0:
		return detect.EventResolved
	case g.Revision == 0:
		return detect.EventFiring
	}
	for _, m := range g.Members {
		if !m.Told || m.Changed || m.Over {
			return detect.EventUpdated
		}
	}
	return ""
}

// worst returns the worst member's severity, or the worst sent one: like an incident, a
// group keeps it while it fires.
func (g *Group) worst() detect.Severity {
	worst := g.Severity
	for _, m := range g.Members {
		if detect.Rank(m.Severity) > detect.Rank(worst) {
			worst = m.Severity
		}
	}
	return worst
}

// schedule makes a changed group due: an interval after its last message, or at once if
// the change must not wait.
func (g *Group) schedule(now time.Time, wait time.Duration) {
	if g.Revision == 0 {
		if at := now.Add(wait); g.Due.IsZero() || at.Before(g.Due) {
			g.Due = at
		}
		return
	}
	g.Due = g.Sent.Add(g.Interval)
	if urgent := g.Firing() == 0 || detect.Rank(g.worst()) > detect.Rank(g.Severity); urgent && now.Before(g.Due) {
		g.Due = now
	}
}

// identify returns the group of a receiver that an incident with its root finding belongs to,
// and the values that make it.
func identify(to Destination, i *detect.Incident, root *detect.Finding) (id string, labels map[string]string) {
	labels = to.Group.Labels(i, root)
	parts := []string{"group", to.Receiver}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, name, labels[name])
	}
	return detect.GroupID(parts...), labels
}
