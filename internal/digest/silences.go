package digest

import (
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/silence"
)

// Silence is a silence that was in force in the period.
type Silence struct {
	ID       string   `json:"id"`
	Matchers []string `json:"matchers"`
	// StartsAt and EndsAt bound it, also where that is beyond the period; of one that was
	// expired EndsAt is when it was.
	StartsAt time.Time `json:"starts_at"`
	EndsAt   time.Time `json:"ends_at"`
	Author   string    `json:"author"`
	Reason   string    `json:"reason"`
	// Incidents are those of the report that it silenced, as far as their histories tell.
	Incidents []Ref `json:"incidents"`
}

// addSilences adds the silences that were in force, those that end last first.
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

// silencedBy returns the IDs of the silences of each incident: those that its history of
// the period names, and the one that it has now, if it had begun in the period.
func (r *Rows) silencedBy() map[string][]string {
	by := make(map[string][]string)
	for id, moved := range r.moved() {
		for _, t := range moved {
			if s := silence.NotedID(t.Note); s != "" {
				by[id] = append(by[id], s)
			}
		}
	}
	for i := range r.Incidents {
		row := &r.Incidents[i]
		document, err := readIncident(row)
		if err == nil && document.Silenced != nil && r.within(row) {
			by[row.ID] = append(by[row.ID], document.Silenced.By)
		}
	}
	return by
}

// mayConcern reports whether a silence may be of the tables that the report is about.
func (r *Rows) mayConcern(s *silence.Silence) bool {
	return len(r.Tables) == 0 || slices.ContainsFunc(r.Tables, func(name string) bool {
		return s.MayChoose(name[strings.LastIndexByte(name, '/')+1:])
	})
}

// silenced reports whether a silence of the report silenced an incident.
func (p *Report) silenced(id string) bool {
	return slices.ContainsFunc(p.Silences, func(s Silence) bool {
		return slices.ContainsFunc(s.Incidents, func(r Ref) bool { return r.Incident == id })
	})
}

// maxReason is how much of a reason a page for people shows, in characters.
const maxReason = 240

// silenceRow is a silence in the words of a page.
type silenceRow struct {
	Matchers                    []string
	Author, Reason, From, Until string
	// Refs are the incidents that it silenced.
	Refs list[subject]
}

func (p *Report) silenceRow(s Silence) silenceRow {
	row := silenceRow{
		Author: short(s.Author), Reason: clip(s.Reason, maxReason), From: p.moment(s.StartsAt), Until: p.moment(s.EndsAt),
		Refs: listOf(s.Incidents, func(r Ref) subject { return subjectOf(r.KeyRef) }),
	}
	for _, m := range s.Matchers {
		row.Matchers = append(row.Matchers, short(m))
	}
	return row
}
