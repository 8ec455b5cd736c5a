package say

import "github.com/keyheat/keyheat/internal/say/wording"

// OpenCount is how many incidents were open in a time.
type OpenCount struct {
	Incidents, Critical int
	// Cut reports that there were more, and Unknown that nothing was counted in this time.
	Cut, Unknown bool
}

// OpenIncidents returns how many incidents were open in a time, and in the one that it is
// compared with; nil for none. when is how much earlier that one is.
func OpenIncidents(c OpenCount, before *OpenCount, when string) string {
	text := c.open("incident was", "incidents were") + " open in this time" + c.critical() + "."
	switch {
	case before == nil:
		return text
	case before.Unknown:
		return text + " Nothing was counted " + when + "."
	case before.Incidents == 0:
		return text + " None was open " + when + "."
	}
	return text + " " + before.open("was", "were") + " open " + when + before.critical() + "."
}

func (c OpenCount) open(one, many string) string {
	text := wording.Count(int64(c.Incidents)) + " " + many
	switch {
	case c.Cut:
		return "At least " + text
	case c.Incidents == 0:
		return "No " + one
	case c.Incidents == 1:
		return "1 " + one
	}
	return text
}

func (c OpenCount) critical() string {
	if c.Critical == 0 {
		return ""
	}
	return ", " + wording.Count(int64(c.Critical)) + " critical"
}
