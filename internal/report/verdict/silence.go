package verdict

import (
	"time"

	"github.com/keyheat/keyheat/detect"
)

// silence notes which silence chooses an incident. Of one that is over nothing is
// withheld: what nobody was told of is not told then.
func (s *State) silence(i *detect.Incident) {
	if i.Silenced = nil; i.State == detect.Resolved {
		i.Withheld = false
		return
	}
	root, _ := s.stored(i.Root)
	i.Silenced = s.silences.Of(i, root.finding.Kind)
}

// due reports whether an incident is no longer silenced, of which something was withheld,
// and still fires: not only because it is over too lately to be sure.
func (s *State) due(i *detect.Incident) bool {
	_, over := s.ending[i.ID]
	return i.Withheld && i.Silenced == nil && i.State == detect.Firing && !over
}

// noteSilenced is what the history says of an incident that fires and is not told of;
// nothing when it is.
func noteSilenced(i *detect.Incident) string {
	if i.Silenced == nil {
		return ""
	}
	return "silenced until " + i.Silenced.Until.UTC().Format(time.RFC3339) + " by silence " + i.Silenced.By
}

// eventAfterSilence returns what to tell of an incident that is no longer silenced.
func eventAfterSilence(i *detect.Incident) detect.Event {
	if i.Revision == 0 {
		return detect.EventFiring
	}
	return detect.EventUpdated
}
