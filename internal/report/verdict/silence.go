package verdict

import "github.com/keyheat/keyheat/detect"

// silence notes which silence chooses an incident. Of one that is over nothing is
// withheld: what nobody was told of is not told then.
func (s *State) silence(i *detect.Incident) {
	if i.Silenced = nil; i.State == detect.Resolved {
		i.Withheld = false
		return
	}
	root, _ := s.stored(i.Root)
	i.Silenced = s.silences.Of(i, &root.finding)
}

// due reports whether an incident is no longer silenced, of which something was withheld,
// and still fires: not only because it is over too lately to be sure.
func (s *State) due(i *detect.Incident) bool {
	_, over := s.ending[i.ID]
	return i.Withheld && i.Silenced == nil && i.State == detect.Firing && !over
}

// eventAfterSilence returns what to tell of an incident that is no longer silenced.
func eventAfterSilence(i *detect.Incident) detect.Event {
	if i.Revision == 0 {
		return detect.EventFiring
	}
	return detect.EventUpdated
}
