package grouping

import (
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/routing"
)

// Set is all groups that are not over. The zero value is not usable: see [NewSet].
type Set struct {
	groups map[string]*Group
	// changed are the IDs of those that are not stored as they are, or are over and
	// stored still.
	changed map[string]bool
}

// NewSet returns the groups that are stored.
func NewSet(stored ...*Group) *Set {
	s := &Set{groups: make(map[string]*Group, len(stored)), changed: make(map[string]bool)}
	for _, g := range stored {
		s.groups[g.ID] = g
	}
	return s
}

// Join tells a group of an incident that fires, is worse, or is to be told of again. It
// reports whether the group has it: one that is full takes no more.
func (s *Set) Join(to routing.Destination, i *detect.Incident, root *detect.Finding, now time.Time) (id string, joined bool) {
	id, labels := IDOf(to, i, root)
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

// Update tells the group that has an incident already what became of it, though no route
// leads there any more.
func (s *Set) Update(id string, i *detect.Incident, root *detect.Finding, now time.Time) {
	if g := s.groups[id]; g != nil {
		s.update(g, i, root, now, 0)
	}
}

func (s *Set) update(g *Group, i *detect.Incident, root *detect.Finding, now time.Time, wait time.Duration) {
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

// End tells a group that one of its incidents is over.
func (s *Set) End(id string, i *detect.Incident, now time.Time) {
	g := s.groups[id]
	if g == nil || g.Members[i.ID] == nil {
		return
	}
	m := g.Members[i.ID]
	m.Root, m.Severity, m.Over = i.Root, i.Severity, true
	s.settle(g, now)
}

// Leave takes an incident out of a group, which is told of elsewhere from now on, or not
// told of at all. The last one of a group that people know is over there, so that the end
// of the group has something to say.
func (s *Set) Leave(id, incident string, now time.Time) {
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

// settle has a group of which one is over or gone told of it, or forgotten where nobody
// was told of any.
func (s *Set) settle(g *Group, now time.Time) {
	s.changed[g.ID] = true
	if g.Revision == 0 && g.Firing() == 0 {
		delete(s.groups, g.ID)
		return
	}
	g.schedule(now, 0)
}

// Due returns the groups of which something is to be told now, in the order of their
// IDs.
func (s *Set) Due(now time.Time) (due []*Group) {
	for _, id := range slices.Sorted(maps.Keys(s.groups)) {
		if g := s.groups[id]; !g.Due.IsZero() && !now.Before(g.Due) {
			due = append(due, g)
		}
	}
	return due
}

// Tell records that a message of a group is written into the outbox, and returns the
// notification's ID. A group that is over is gone.
func (s *Set) Tell(g *Group, event detect.Event, now time.Time) (id string) {
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

// Skip records that nothing is to be told of a group that was due.
func (s *Set) Skip(g *Group) {
	g.Due = time.Time{}
	s.changed[g.ID] = true
}

// ChangedGroups returns the groups to store, and nil for those that are over, by ID.
func (s *Set) ChangedGroups() map[string]*Group {
	all := make(map[string]*Group, len(s.changed))
	for id := range s.changed {
		all[id] = s.groups[id]
	}
	return all
}

// MarkWritten records that what changed is stored.
func (s *Set) MarkWritten() { clear(s.changed) }
