package wording

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
)

// GroupTitle says in one line what a group of incidents is about: what they have in
// common, how many there are, and the worst one's title. worst is that one's root
// finding; one without a kind is not known. Of a group that had one incident alone it is
// that one's title.
func GroupTitle(g *detect.Group, worst *detect.Finding) string {
	common := GroupLabels(g, ", ", func(_, value string) string { return value })
	title := ""
	if worst.Kind != "" {
		if title = Title(worst); g.Total == 1 {
			return title
		}
		if Place(worst.Target) == common {
			title = about(worst) + lasting(worst)
		}
		title = ", the worst: " + title
	}
	if common != "" {
		common += ": "
	}
	switch {
	case g.Firing == 0 && g.Total == 1:
		return common + "the incident is over"
	case g.Firing == 0:
		return common + "all " + incidents(g.Total) + " are over"
	case g.Over == 0:
		return common + incidents(g.Firing) + title
	case g.Over == 1:
		return common + incidents(g.Firing) + ", 1 more is over" + title
	}
	return common + incidents(g.Firing) + ", " + Count(int64(g.Over)) + " more are over" + title
}

func incidents(n int) string {
	if n == 1 {
		return "1 incident"
	}
	return Count(int64(n)) + " incidents"
}

// GroupLabels writes what the incidents of a group have in common, in the order of the
// labels' names; nothing for what they do not have.
func GroupLabels(g *detect.Group, separator string, write func(name, value string) string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(g.Labels)) {
		if value := g.Labels[name]; value != "" {
			all = append(all, write(Printable(name), Printable(Shorten(value, longestLabel))))
		}
	}
	return strings.Join(all, separator)
}

// longestLabel is how many characters of a label's value a title shows: a table's name is
// never longer.
const longestLabel = 255

// MemberTitle says in one line how an incident of a group is, and what it is about.
func MemberTitle(m *detect.GroupMember) string {
	how := string(m.Severity)
	if m.State == detect.Resolved {
		how = "over"
	}
	if m.Title == "" {
		return how
	}
	return fmt.Sprintf("%s: %s", how, m.Title)
}
