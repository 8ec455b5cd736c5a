package verdict

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/routing"
	"github.com/keyheat/keyheat/store"
)

// SetGroups records the stored groups, once the incidents that fire are set. A member that
// is not among these has been purged since: nobody would ever tell its end.
func (s *State) SetGroups(rows []store.Group, now time.Time) error {
	groups := make([]*routing.Group, len(rows))
	for n, row := range rows {
		var err error
		if groups[n], err = routing.ReadGroup(row.Document); err != nil {
			return fmt.Errorf("stored group %s: %w", row.ID, err)
		}
	}
	s.groups = routing.NewGroupSet(groups...)
	for _, g := range groups {
		for _, m := range g.SortedMembers() {
			if i, known := s.incident(m.ID); !m.Over && (!known || i.State != detect.Firing) {
				s.groups.Leave(g.ID, m.ID, now)
			}
		}
	}
	return nil
}

// groupRows returns the groups that changed, as they are stored.
func (s *State) groupRows() (rows []store.Group, err error) {
	changed := s.groups.ChangedGroups()
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		row := store.Group{ID: id}
		if g := changed[id]; g != nil {
			row.Receiver = g.Receiver
			if row.Document, err = json.Marshal(g); err != nil {
				return nil, fmt.Errorf("write group %s: %w", id, err)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// telling is one receiver with a message of its own about an incident.
type telling struct {
	receiver string
	event    detect.Event
}

// tellGroups changes the receivers' groups with an incident, notes the receivers, and
// returns the receivers that get a message of their own. A receiver stays with its group
// as long as the routes and the group's common values stay the same. A receiver with
// messages of its own gets the end so too.
func (s *State) tellGroups(i *detect.Incident, root *detect.Finding, event detect.Event, now time.Time) (alone []telling) {
	before := i.Notified
	in := make(map[string]detect.InGroup, len(i.Groups))
	for _, g := range i.Groups {
		in[g.Receiver] = g
	}
	i.Notified, i.Groups = []string{}, nil // in JSON a list, never null
	if event == detect.EventResolved {
		for _, receiver := range before {
			if g, grouped := in[receiver]; grouped {
				s.groups.End(g.ID, i, now)
			} else {
				alone = append(alone, telling{receiver, event})
			}
		}
		return alone
	}
	to := s.route(i, root)
	for _, d := range to {
		g, grouped := in[d.Receiver]
		told := slices.Contains(before, d.Receiver)
		own := event
		if event == detect.EventUpdated && (!told || grouped) {
			own = detect.EventFiring // what it is told of by itself begins
		}
		joined := false
		if d.Group != nil && (grouped || !told) {
			joined = s.join(d, i, root, now)
		}
		if grouped && !slices.ContainsFunc(i.Groups, func(in detect.InGroup) bool { return in.ID == g.ID }) {
			s.groups.Leave(g.ID, i.ID, now)
		}
		if !joined {
			alone = append(alone, telling{d.Receiver, own})
		}
		i.Notified = append(i.Notified, d.Receiver)
	}
	for _, receiver := range before {
		if slices.Contains(i.Notified, receiver) {
			continue
		}
		i.Notified = append(i.Notified, receiver)
		if g, grouped := in[receiver]; grouped {
			i.Groups = append(i.Groups, g)
			s.groups.Update(g.ID, i, root, now)
		} else {
			alone = append(alone, telling{receiver, event})
		}
	}
	return alone
}

// join adds an incident to a receiver's group, and notes the receiver.
func (s *State) join(d routing.Destination, i *detect.Incident, root *detect.Finding, now time.Time) bool {
	id, joined := s.groups.Join(d, i, root, now)
	if joined {
		i.Groups = append(i.Groups, detect.InGroup{Receiver: d.Receiver, ID: id, Labels: d.Group.Labels(i, root)})
	}
	return joined
}

// leaveGroups takes an incident out of its groups that another one continues there.
func (s *State) leaveGroups(i *detect.Incident, now time.Time) {
	for _, g := range i.Groups {
		s.groups.Leave(g.ID, i.ID, now)
		i.Notified = removeText(i.Notified, g.Receiver)
	}
	i.Groups = nil
}

func removeText(all []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == one })
}

// MissingRoots returns the root findings, not yet loaded from the store, of the worst
// incidents of due groups.
func (s *State) MissingRoots(now time.Time) (roots []string) {
	due := s.groups.Due(now)
	if len(due) == 0 {
		clear(s.looked)
	}
	for _, g := range due {
		for _, m := range listMembers(g)[:min(1, len(g.Members))] {
			if !s.ready(m) {
				roots = append(roots, m.Root)
			}
		}
	}
	return roots
}

// MarkLooked records that the root of a group's worst incident was looked for in the
// store, and set if it is there.
func (s *State) MarkLooked(root string) { s.looked[root] = true }

// ready reports whether a message may be about a group's worst incident: its root was
// looked for in the store.
func (s *State) ready(m *routing.Member) bool {
	_, incident := s.incident(m.ID)
	_, root := s.storedFinding(m.Root)
	return incident && root || s.looked[m.Root]
}

// listMembers are the members of a group that a message lists.
func listMembers(g *routing.Group) []*routing.Member {
	all := g.SortedMembers()
	return all[:min(len(all), detect.GroupMembers)]
}

// tellDueGroups drafts the messages of due groups. A group whose worst incident has to be
// loaded waits for the next pass.
func (s *State) tellDueGroups(now time.Time) error {
	for _, g := range s.groups.Due(now) {
		if err := s.mute(g, now); err != nil {
			return err
		}
		if len(g.Members) == 0 && g.Revision == 0 {
			continue // all of them are silenced
		}
		members := listMembers(g)
		if len(members) > 0 && !s.ready(members[0]) {
			continue
		}
		event := g.Event()
		if event == "" {
			s.groups.Skip(g)
			continue
		}
		if err := s.tellGroup(g, members, event, now); err != nil {
			return fmt.Errorf("write the notification of group %s: %w", g.ID, err)
		}
	}
	return nil
}

// mute takes silenced members out of a group without a message so far: they follow when
// the silence is over.
func (s *State) mute(g *routing.Group, now time.Time) error {
	for _, m := range g.SortedMembers() {
		before, known := s.incident(m.ID)
		if m.Told || m.Over || !known {
			continue
		}
		root, _ := s.storedFinding(before.Root)
		by := s.Silences.Match(&before.Incident, &root.finding)
		if by == nil {
			continue
		}
		after := before
		after.Silenced, after.Withheld = by, true
		after.Notified = removeText(before.Notified, g.Receiver)
		after.Groups = slices.DeleteFunc(slices.Clone(before.Groups), func(in detect.InGroup) bool { return in.ID == g.ID })
		s.groups.Leave(g.ID, m.ID, now)
		if err := s.putIncident(after, before); err != nil {
			return err
		}
	}
	return nil
}

// tellGroup drafts a message of a group. The incident and finding in it are the worst
// member's.
func (s *State) tellGroup(g *routing.Group, members []*routing.Member, event detect.Event, now time.Time) error {
	of := &detect.Group{
		InGroup: detect.InGroup{Receiver: g.Receiver, ID: g.ID, Labels: g.Labels}, OpenedAt: g.Opened,
		Firing: g.Firing(), Over: len(g.Members) - g.Firing(), Total: g.Total,
	}
	for _, m := range members {
		listed := detect.GroupMember{Incident: m.ID, Finding: m.Root, Severity: m.Severity, State: detect.Firing}
		if m.Over {
			listed.State = detect.Resolved
		}
		of.Members = append(of.Members, listed)
	}
	worst := members[0]
	i, known := s.incident(worst.ID)
	if !known {
		i.Incident = detect.Incident{ID: worst.ID, Root: worst.Root, Severity: worst.Severity, State: detect.Firing, OpenedAt: g.Opened}
	}
	root, known := s.storedFinding(i.Root) // which may be another one by now
	if !known {
		root, _ = s.storedFinding(worst.Root)
	}
	id := s.groups.Tell(g, event, now)
	of.Severity = g.Severity
	payload, err := s.payload(&i.Incident, &root, event, of)
	if err != nil {
		return err
	}
	s.draft.Notifications = append(s.draft.Notifications, store.Notification{
		ID: id, Fingerprint: cmp.Or(root.finding.Fingerprint, worst.Root), Incident: g.ID, Event: string(event), Route: g.Receiver, Payload: payload,
	})
	return nil
}
