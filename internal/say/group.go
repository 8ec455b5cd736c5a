package say

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// GroupTitle names a group of incidents in one line: the labels that they share, how many
// there are, and the worst one. worst is that one's root finding; one without a kind is
// unknown. A group of one incident has that one's title.
func GroupTitle(g *detect.Group, worst *detect.Finding) string {
	if worst.Kind != "" && g.Total == 1 {
		return Title(worst)
	}
	title := GroupLabels(g, ", ", func(_, value string) string { return value })
	if title != "" {
		title += ": "
	}
	switch {
	case g.Firing == 0 && g.Total == 1:
		return title + "the incident is over"
	case g.Firing == 0:
		return title + "all " + incidents(g.Total) + " are over"
	}
	title += incidents(g.Firing)
	switch {
	case g.Over == 1:
		title += ", 1 more is over"
	case g.Over > 1:
		title += ", " + wording.Count(int64(g.Over)) + " more are over"
	}
	if worst.Kind != "" {
		title += "; worst: " + Title(worst)
	}
	return title
}

func incidents(n int) string {
	if n == 1 {
		return "1 incident"
	}
	return wording.Count(int64(n)) + " incidents"
}

// GroupLabels writes the labels that the incidents of a group share, in the order of the
// labels' names.
func GroupLabels(g *detect.Group, separator string, write func(name, value string) string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(g.Labels)) {
		if value := g.Labels[name]; value != "" {
			all = append(all, write(wording.Printable(name), wording.Printable(wording.Shorten(value, longestLabel))))
		}
	}
	return strings.Join(all, separator)
}

// longestLabel is how many characters of a label's value a title shows: a table's name is
// never longer.
const longestLabel = 255

// Member is an incident of a group. Title names it in one line; it is empty if its root
// finding is unknown.
type Member struct {
	detect.GroupMember
	Title string `json:"title"`
}

// Headline names the incident in one line, with its severity or its end.
func (m *Member) Headline() string {
	how := string(m.Severity)
	if m.State == detect.Resolved {
		how = "over"
	}
	if m.Title == "" {
		return how
	}
	return fmt.Sprintf("%s: %s", how, m.Title)
}
