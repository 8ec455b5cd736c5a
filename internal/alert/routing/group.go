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

// GroupSet is all groups that are not over. The zero value is not usable: see [NewGroupSet].
type GroupSet struct {
	groups map[string]*Group
	// changed are the IDs of groups that differ from their rows, or are over and still
	// stored.
	changed map[string]bool
}

// NewGroupSet returns the groups that are stored.
func NewGroupSet(stored ...*Group) *GroupSet {
	s := &GroupSet{groups: make(map[string]*Group, len(stored)), changed: make(map[string]bool)}
	for _, g := range stored {
		s.groups[g.ID] = g
	}
	return s
}

// Join adds an incident that fires, is worse, or is repeated to a group. It reports
// whether the group has it: a full group takes no more.
func (s *GroupSet) Join(to Destination, i *detect.Incident, root *detect.Finding, now time.Time) (id string, joined bool) {
	id, labels := identify(to, i, root)
	g := s.groups[id]
	if g == nil {
		g = &Group{
			ID: id, Receiver: to.Receiver, Labels: labels, Opened: i.OpenedAt, Members: make(map[string]*Member),
			Life: detect.NotificationID(i.ID, i.OpenedAt, i.Revision, detect.EventFiring, id),
		}
	}
	if g.Members[i.ID] == nil && len(g.Members) >= maxMembers {
		return id, false
	}
	s.groups[id] = g
	g.Interval = to.Group.Interval
	s.update(g, i, root, now, to.Group.Wait)
	return id, true
}

// Update changes an incident in the group that holds it, although no route leads there
// any more.
func (s *GroupSet) Update(id string, i *detect.Incident, root *detect.Finding, now time.Time) {
	if g := s.groups[id]; g != nil {
		s.update(g, i, root, now, 0)
	}
}

func (s *GroupSet) update(g *Group, i *detect.Incident, root *detect.Finding, now time.Time, wait time.Duration) {
	m := g.Members[i.ID]
	if m == nil {
		m = &Member{ID: i.ID}
		g.Members[i.ID] = m
		g.Total++
	}
	m.Root, m.Severity, m.Utilization, m.Changed, m.Over = i.Root, i.Severity, root.Utilization, true, false
	g.schedule(now, wait)
	s.changed[g.ID] = true
}

// End marks one of a group's incidents as over.
func (s *GroupSet) End(id string, i *detect.Incident, now time.Time) {
	g := s.groups[id]
	if g == nil || g.Members[i.ID] == nil {
		return
	}
	m := g.Members[i.ID]
	m.Root, m.Severity, m.Over = i.Root, i.Severity, true
	s.settle(g, now)
}

// Leave takes an incident out of a group, because another group has it from now on, or
// none. The last incident that receivers know is marked as over, so that the group's end
// has a member.
func (s *GroupSet) Leave(id, incident string, now time.Time) {
	g := s.groups[id]
	if g == nil || g.Members[incident] == nil {
		return
	}
	if g.Revision > 0 && len(g.Members) == 1 {
		g.Members[incident].Over = true
	} else {
		delete(g.Members, incident)
		g.Total--
	}
	s.settle(g, now)
}

// settle makes a group with an ended or missing member due, or forgets it if no message
// was sent.
func (s *GroupSet) settle(g *Group, now time.Time) {
	s.changed[g.ID] = true
	if g.Revision == 0 && g.Firing() == 0 {
		delete(s.groups, g.ID)
		return
	}
	g.schedule(now, 0)
}

// Due returns the groups whose message is due, in the order of their IDs.
func (s *GroupSet) Due(now time.Time) (due []*Group) {
	for _, id := range slices.Sorted(maps.Keys(s.groups)) {
		if g := s.groups[id]; !g.Due.IsZero() && !now.Before(g.Due) {
			due = append(due, g)
		}
	}
	return due
}

// Tell records that a message of a group is written into the outbox, and returns the
// notification's ID. A group that is over is gone.
func (s *GroupSet) Tell(g *Group, event detect.Event, now time.Time) (id string) {
	g.Revision++
	g.Severity, g.Sent = g.worst(), now
	s.Skip(g)
	for incident, m := range g.Members {
		if m.Told, m.Changed = true, false; m.Over {
			delete(g.Members, incident)
		}
	}
	if event == detect.EventResolved {
		delete(s.groups, g.ID)
	}
	return detect.NotificationID(g.Life, g.Opened, g.Revision, event, g.Receiver)
}

// Skip records that a due group has no message to send.
func (s *GroupSet) Skip(g *Group) {
	g.Due = time.Time{}
	s.changed[g.ID] = true
}

// ChangedGroups returns the groups to store, and nil for ended ones, by ID.
func (s *GroupSet) ChangedGroups() map[string]*Group {
	all := make(map[string]*Group, len(s.changed))
	for id := range s.changed {
		all[id] = s.groups[id]
	}
	return all
}

// MarkWritten records that all changes are stored.
func (s *GroupSet) MarkWritten() { clear(s.changed) }
