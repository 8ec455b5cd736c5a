package say

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/intake"
)

// EmptyParts are the sentences of pages, reports and the terminal where a part of them has
// no rows.
type EmptyParts struct {
	// Incidents is of a list of incidents, Findings of a table, Whole of a table and its
	// keys.
	Incidents, Findings, Whole string
	// Hot and Counted are of a heatmap: of keys' loads, and of a time without counts.
	Hot, Counted string
	// Fired and Gaps are of a report.
	Fired, Gaps string
}

// Empty are the sentences of empty parts.
var Empty = EmptyParts{
	Incidents: "No incidents. Keys near or over a limit will stand here.",
	Findings:  "No finding of this table is open.",
	Whole:     "Nothing is wrong: no finding is about it, or about a key of it.",
	Hot:       "No key came above a fiftieth of the partition limit in this time.",
	Counted:   "Nothing of this time was counted: no collector read it, or it is no longer kept. The load is unknown.",
	Fired:     "Nothing fired in the counted time.",
	Gaps:      "No gaps in the samples were noticed.",
}

// SilencedEffect explains a silence on a silenced incident.
const (
	SilencedEffect = "No alert is sent when the incident fires or gets worse."
)

// The footnotes of a list of findings: bounds of peaks, and of seconds over the limit.
const (
	LeastPeak    = "≥ of a peak: the highest second had at least so much, and these samples cannot tell which that was, nor how high."
	LeastSeconds = "≥ of seconds over: so many are proven, and others may have been over, too."
)

// NoHotKeys is the verdict on samples of tables without a finding, with the doubts about it. gaps
// means that some records could not be read.
func NoHotKeys(r *intake.Reading, tables []detect.Table, doubts string, gaps bool) string {
	text := "No hot keys."
	switch {
	case doubts != "":
		text = doubts + " No hot key is proven."
	case r.Unrepeated != "":
		text = UnrepeatedKey(r)
	case r.Means, Sums(tables) != "":
		text = "No key is proven to be hot, and none to be healthy: single seconds are not seen."
	case r.Partial(), gaps:
		text = "No hot keys in what could be read."
	case r.RepeatsMuch():
		text = "No hot keys in what was counted."
	case r.AtLeast():
		text = "No hot keys, if each request cost the least that it can."
	}
	for _, sentence := range []string{Sums(tables), IntakeShare(r), UnreadRefusals(r), RepeatedIDs(r)} {
		if sentence != "" {
			text += " " + sentence
		}
	}
	return text
}
