package say

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// Caller is a caller with its share of a finding's load: 0 to 1. AtLeast holds for a lower
// bound.
type Caller struct {
	Name    string
	Share   float64
	AtLeast bool
}

// whoCalls names the callers of a finding; empty if none stands out, which the action for now
// then says.
func whoCalls(f *detect.Finding, a *casebook.Answer, all []Caller) string {
	others := 1 - f.OwnShare()
	switch {
	case f.Contention != nil: // the cause has both sides
		return ""
	case others >= othersShown && (a.Alike || len(all) == 0):
		return fmt.Sprintf(" %s from %s.", wording.Percent(others), writers(f))
	case a.Alike:
		return ""
	case a.Code == casebook.Scan:
		return scanners(all)
	case others >= othersShown:
		all = append(slices.Clone(all), Caller{Name: "other Regions", Share: others})
	}
	title, share := " Callers: ", 0.0
	for _, c := range all {
		share += c.Share
	}
	switch {
	case f.Subject.OfTable():
		title = " Refused callers: "
	case len(all) > 1 && share < almostAllCallers:
		title = " Main callers: "
	}
	return listCallers(title, all)
}

// othersShown is the part of a load, replicated from other Regions, from which a list of
// callers names them.
const othersShown = 0.01

// callers returns callers with their shares.
func callers(parts []detect.Part) (all []Caller) {
	for i := range parts {
		all = append(all, newCaller(&parts[i]))
	}
	return all
}

// exactShare is how far apart the bounds of a caller's share are at most for its middle to be
// written without a sign.
const exactShare = 0.02

// newCaller returns a caller with the middle of its share's bounds or, where they are
// apart, the lower one.
func newCaller(p *detect.Part) Caller {
	if p.High-p.Low > exactShare {
		return Caller{quote(p.Text), p.Low, true}
	}
	return Caller{quote(p.Text), (p.Low + p.High) / 2, false}
}

// text writes a caller with its share: “web” 50%.
func (c Caller) text() string { return strings.TrimSuffix(c.Name+" "+c.part(), " ") }

// part writes the share, behind a sign if it is a lower bound; empty for one that says nothing.
func (c Caller) part() string {
	switch least := int(100*c.Share + 1e-9); {
	case c.AtLeast && least == 0:
		return ""
	case c.AtLeast:
		return fmt.Sprintf("≥%d%%", least)
	}
	return strings.Replace(wording.Part(c.Share), "over ", ">", 1)
}

// scanners names who scans, the busiest first.
func scanners(all []Caller) string {
	if len(all) == 0 {
		return ""
	}
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	return " Scanned by " + wording.List(names) + "."
}

// almostAllCallers is the least share of the load from which the listed callers are all.
const almostAllCallers = 0.95

// listCallers names the callers with their shares behind a title: Callers: “web” 50%, “app” 30%.
func listCallers(title string, all []Caller) string {
	if len(all) == 0 {
		return ""
	}
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = c.text()
	}
	return title + strings.Join(words, ", ") + "."
}

// busiest names the busiest caller behind a word, such as of or by; empty if none stands out.
func busiest(word string, a *casebook.Answer) string {
	if len(a.Move.Callers) == 0 || a.Alike && a.Move.Act != casebook.BackOff {
		return ""
	}
	return strings.TrimRight(" "+word, " ") + " " + quote(a.Move.Callers[0].Text)
}
