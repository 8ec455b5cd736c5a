package routing

import (
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
)

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
