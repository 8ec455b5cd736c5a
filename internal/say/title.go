package say

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

// longestTitle is how many characters a title has at most: a phone shows so many.
const longestTitle = 80

// Title names an incident in one line by its root finding: the place, the symptom and the
// key.
func Title(f *detect.Finding) string {
	where := place(f.Target)
	if f.Case == casebook.SamplesStopped && f.Table == "" {
		where = "All tables"
	}
	title := where + ": " + symptom(f)
	key := titleKey(f)
	room := longestTitle - len([]rune(title)) - len([]rune(" (“”)"))
	if key == "" || room < len("key…") {
		return wording.Shorten(title, longestTitle)
	}
	return title + " (“" + wording.Shorten(wording.Printable(key), room) + "”)"
}

// place names a table or index without its account and Region, or Keyheat itself.
func place(t detect.Target) string {
	t.Account, t.Region = "", ""
	return wording.Shorten(wording.Place(t), shownPlace)
}

// Incident is an incident as JSON shows it, with the words of its root finding.
type Incident struct {
	detect.Incident
	// Title names the incident in one line, Summary is its cause, and FirstFix is what to
	// do now. They are empty if the root finding is unknown.
	Title    string `json:"title"`
	Summary  string `json:"summary"`
	FirstFix string `json:"first_fix"`
}

// Incidents gives incidents the words of their root findings, as far as these are among
// found.
func Incidents(incidents []detect.Incident, found []detect.Finding) []Incident {
	roots := make(map[string]*detect.Finding, len(found))
	for i := range found {
		roots[found[i].Fingerprint] = &found[i]
	}
	all := make([]Incident, len(incidents))
	for i := range incidents {
		all[i].Incident = incidents[i]
		if root := roots[incidents[i].Root]; root != nil {
			b := New(root)
			all[i].Title, all[i].Summary, all[i].FirstFix = b.Title, b.Why, b.Now
		}
	}
	return all
}

// titleKey is the key that a title shows in brackets; empty for none.
func titleKey(f *detect.Finding) sample.Text {
	switch {
	case f.IsPattern() && len(f.Rolling.Keys) > 0:
		return f.Rolling.Keys[len(f.Rolling.Keys)-1]
	case f.Sharding != nil && !f.Subject.OfKey():
		return f.Sharding.Base
	case f.Case == casebook.FewValues, f.Case == casebook.MovingSpot:
		return ""
	}
	if k := soleRefused(f); k != nil {
		return k.Key
	}
	return f.Key
}

// symptom is the visible effect of a finding, in a few words.
func symptom(f *detect.Finding) string {
	a := casebook.New(f)
	return cards[a.Code].symptom.say(f, &a)
}

// maxNamed is how many tables the title of a summary names.
const maxNamed = 5

// LimitedTitle is the title of the message in place of the incidents beyond a notification
// limit a minute. It counts them by table, and ends with the title of the worst.
func LimitedTitle(tables map[string]int, limit int, worst string) string {
	names := slices.SortedFunc(maps.Keys(tables), func(a, b string) int {
		return cmp.Or(tables[b]-tables[a], strings.Compare(a, b))
	})
	all, on := 0, []string{}
	for i, name := range names {
		all += tables[name]
		if i < maxNamed {
			on = append(on, fmt.Sprintf("%d on %s", tables[name], name))
		}
	}
	if more := len(names) - len(on); more > 0 {
		on = append(on, fmt.Sprintf("others on %d more tables", more))
	}
	return fmt.Sprintf("%s more incidents than %d a minute: %s. The worst: %s", wording.Count(int64(all)), limit, strings.Join(on, ", "), worst)
}
