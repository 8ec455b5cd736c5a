package say

import (
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

// Named is the incident that a sentence names.
type Named struct {
	Key sample.Text
	sample.Target
	// Utilization is its highest load as a share of the limit; zero if unknown.
	Utilization float64
}

// Present describes the last seconds of the tables with open incidents.
type Present struct {
	// Counted reports that anything was ever counted whole.
	Counted bool
	// Open is how many incidents fire, and Pending how many may come to. Nearest has
	// the highest load of the latter.
	Open, Pending  int
	Worst, Nearest *Named
	// Over is how many keys are proven over a limit in a second of the last ones.
	Over int
	// AsOf is the newest second counted, if it is too old to be called now.
	AsOf time.Time
	// Loser is the table that refused the largest share of its writes or reads, if any
	// did; Refused is the share, and Reads means reads.
	Loser   detect.Target
	Refused float64
	Reads   bool
	// Bounded reports that the loads of a table are lower bounds.
	Bounded bool
	// More reports that more tables have open incidents than were looked at.
	More bool
	// NoSamples tells since when no sample has come; empty while they come.
	NoSamples string
}

// longestKey is how much of a key stands in the sentence, in characters.
const longestKey = 40

// Sentence describes the present in one sentence. nobody means that no collector was ever
// there, and since the time since which none has written; zero while one does. Missing
// counts come before calm.
func (n *Present) Sentence(nobody bool, since time.Time) string {
	switch {
	case !n.Counted && nobody:
		return "No samples have arrived yet: start a collector."
	case !n.Counted:
		return "Collector connected. Waiting for the first samples."
	case !since.IsZero() && n.Open == 0:
		return "Nothing could be judged since " + since.UTC().Format("15:04:05") + " UTC, when the last collector wrote."
	case !since.IsZero():
		return "Nothing could be judged since " + since.UTC().Format("15:04:05") + " UTC, when the last collector wrote: " +
			wording.Plural(n.Open, "incident", "incidents") + " fired then."
	case n.NoSamples != "" && n.Open > 0:
		return n.NoSamples + "; " + wording.Plural(n.Open, "incident fires", "incidents fire") + "."
	case n.NoSamples != "":
		return n.NoSamples + ": the load is unknown."
	}
	var parts []string
	switch asOf := n.AsOf.UTC().Format("15:04:05") + " UTC"; {
	case n.Over > 0 && !n.AsOf.IsZero():
		parts = append(parts, atLeast(n.More)+wording.Plural(n.Over, "key was", "keys were")+" over the limit at "+asOf+", the newest second counted")
	case n.Over > 0:
		parts = append(parts, atLeast(n.More)+wording.Plural(n.Over, "key is", "keys are")+" over the limit now")
	case n.Open > 0 && !n.AsOf.IsZero():
		parts = append(parts, wording.Plural(n.Open, "incident fires", "incidents fire")+", and nothing newer than "+asOf+" is counted yet")
	case n.Pending > 0 && !n.AsOf.IsZero():
		parts = append(parts, "Nothing newer than "+asOf+" is counted yet")
	case n.Open > 0:
		parts = append(parts, wording.Plural(n.Open, "incident fires", "incidents fire")+", but no key was over the limit in the last seconds")
	case n.Pending > 0:
		parts = append(parts, "No key is over the limit now")
	case n.Bounded:
		return "No key is seen near the limit of a partition, but some loads are lower bounds."
	default:
		return "No key is near the limit of a partition."
	}
	switch {
	case n.Worst != nil && n.Worst.Key != "":
		parts = append(parts, incidentName(n.Worst)+" is the worst"+peakText(n.Worst))
	case n.Refused > 0:
		text := "DynamoDB refuses " + wording.Part(n.Refused) + " of the " + map[bool]string{false: "writes to ", true: "reads of "}[n.Reads] + wording.Place(n.Loser)
		if n.More {
			text += ", the most among the hottest tables"
		}
		parts = append(parts, text)
	case n.Worst == nil && n.Nearest != nil && n.Nearest.Key != "":
		rank := " is the nearest"
		if n.Nearest.Utilization > 1 {
			rank = " is the worst"
		}
		parts = append(parts, incidentName(n.Nearest)+rank+peakText(n.Nearest))
	}
	return strings.Join(parts, "; ") + "."
}

// NoSamples tells since when no sample has come.
func NoSamples(since, now time.Time) string {
	format := "15:04"
	if now.Sub(since) >= 24*time.Hour {
		format = "2006-01-02 15:04"
	}
	return "No samples since " + since.UTC().Format(format) + " UTC (" + wording.Span(now.Sub(since)) + ")"
}

// Lateness tells how late samples come; empty if in time or unknown.
func Lateness(seconds *int64) string {
	if seconds == nil || *seconds < leastLate {
		return ""
	}
	return "Samples arrive " + wording.Span(time.Duration(*seconds)*time.Second) + " late"
}

// leastLate is the least lateness in seconds that is told.
const leastLate = 10

func atLeast(more bool) string {
	if more {
		return "At least "
	}
	return ""
}

func incidentName(h *Named) string {
	return wording.Quote(wording.Shorten(h.Key, longestKey)) + " in " + wording.Place(h.Target)
}

// peakText describes an incident's highest load; empty if unknown.
func peakText(h *Named) string {
	if h.Utilization <= 0 {
		return ""
	}
	return ", " + wording.Part(h.Utilization) + " of the limit at its peak"
}

// OpenCount is how many incidents were open in a time.
type OpenCount struct {
	Incidents, Critical int
	// Cut reports that there were more.
	Cut bool
}

// OpenIncidents returns how many incidents were open in a time.
func OpenIncidents(c OpenCount) string {
	text := "No incident was open in this time"
	if c.Incidents > 0 {
		text = atLeast(c.Cut) + wording.Plural(c.Incidents, "incident was", "incidents were") + " open in this time"
	}
	if c.Critical > 0 {
		text += ", " + wording.Count(int64(c.Critical)) + " critical"
	}
	return text + "."
}
