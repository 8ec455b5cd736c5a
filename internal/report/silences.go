package report

import (
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/silence"
	"github.com/keyheat/keyheat/store"
)

// addSilences adds the period's silences, the last to end first.
func (p *Report) addSilences(r *Rows) {
	by := r.silencedBy()
	for _, s := range r.Silences {
		if !r.mayConcern(&s) {
			continue
		}
		listed := Silence{ID: s.ID, Matchers: s.Matchers, StartsAt: s.StartsAt, EndsAt: s.EndsAt, Author: s.Author, Reason: s.Reason, Incidents: []Ref{}}
		for _, i := range slices.Concat(p.Hot, p.Warm) {
			if slices.Contains(by[i.ID], s.ID) {
				listed.Incidents = append(listed.Incidents, refTo(i))
			}
		}
		p.Silences = append(p.Silences, listed)
	}
}

// silencedBy returns the IDs of the silences of each incident: the ones in its history of
// the period, and its present one, if it had begun in the period.
func (r *Rows) silencedBy() map[string][]string {
	by := make(map[string][]string)
	for id, moved := range r.transitions() {
		for _, t := range moved {
			if t.Note == string(detect.NoteSilenced) {
				by[id] = append(by[id], t.About)
			}
		}
	}
	for i := range r.Incidents {
		row := &r.Incidents[i]
		document, err := readIncident(row)
		if err == nil && document.Silenced != nil && r.overlaps(row) {
			by[row.ID] = append(by[row.ID], document.Silenced.By)
		}
	}
	return by
}

// mayConcern reports whether a silence may be of the tables that the report is about.
func (r *Rows) mayConcern(s *store.Silence) bool {
	return len(r.Tables) == 0 || slices.ContainsFunc(r.Tables, func(name string) bool {
		return silence.MayChoose(s, name[strings.LastIndexByte(name, '/')+1:])
	})
}
