package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// Outline is the figures of a report's summary.
type Outline struct {
	Request
	say.Outline
}

// Outline returns the figures of the report's summary.
func (p *Report) Outline() *Outline {
	o := &Outline{p.Request, say.Outline{Hot: len(p.Hot), Warm: len(p.Warm), Gaps: len(p.NotSeen.Gaps), Blind: p.blind(), Stopped: p.NotSeen.Stopped}}
	for _, i := range p.Hot {
		if i.State == detect.Firing {
			o.Firing++
		}
	}
	for _, worst := range slices.Concat(p.Hot, p.Warm)[:min(1, o.Hot+o.Warm)] {
		o.Worst, o.Utilization = worst.KeyRef, worst.Utilization
	}
	return o
}

// Summary describes a report in one sentence.
func (o *Outline) Summary() string { return o.Describe(o.Moment) }

// blind reports whether nothing was seen, so that nothing is known.
func (p *Report) blind() bool {
	if len(p.Hot)+len(p.Warm) > 0 {
		return false
	}
	if p.Files != nil {
		return p.Files.Samples == 0 || p.Files.Unjudged != ""
	}
	return p.NotSeen.Collectors != nil && *p.NotSeen.Collectors == 0
}

// How much of a key and of a text a page for people shows, in characters.
const (
	maxShort = 120
	maxLong  = 700
)

// short returns other people's text in readable form, cut if it is long: the cut gives
// its length.
func short[T ~string](text T) string { return clip(text, maxShort) }

func clip[T ~string](text T, most int) string {
	printable := wording.Printable(text)
	if utf8.RuneCountInString(printable) <= most {
		return printable
	}
	runes := []rune(printable)
	return string(runes[:most]) + "… (" + wording.Count(int64(len(text))) + " bytes)"
}

// sentences returns Keyheat's own text, with readable quotations of other people's; a
// long one ends behind a sentence.
func sentences(text string) string {
	parts := strings.Split(text, `\`) // of the escapes in quotes, which are not escaped again
	for i, part := range parts {
		parts[i] = wording.Printable(part)
	}
	printable := strings.Join(parts, `\`)
	if utf8.RuneCountInString(printable) <= maxLong {
		return printable
	}
	kept := string([]rune(printable)[:maxLong])
	if end := strings.LastIndex(kept, ". "); end > 0 {
		return kept[:end+1] + " …"
	}
	return kept + "…"
}

func count(n int) string { return wording.Count(int64(n)) }

// location returns the time zone of a report; UTC where this machine does not know it.
func (q Request) location() *time.Location {
	if zone, err := time.LoadLocation(q.Zone); err == nil {
		return zone
	}
	return time.UTC
}

// Moment writes a time in the report's zone.
func (q Request) Moment(t time.Time) string {
	if q.To.Sub(q.From) < time.Hour {
		return t.In(q.location()).Format("2006-01-02 15:04:05 MST")
	}
	return t.In(q.location()).Format("2006-01-02 15:04 MST")
}

// Instant is [Request.Moment] of a time that may be unknown.
func (q Request) Instant(t *time.Time) string { return orUnknown(t, q.Moment) }

func (p *Report) title() string {
	if p.Name == "" {
		return "Keyheat report"
	}
	return "Keyheat report: " + short(p.Name)
}

func orUnknown[T any](value *T, write func(T) string) string {
	if value == nil {
		return "not known"
	}
	return write(*value)
}

func part(f *detect.Figure) string {
	return orUnknown(f, func(f detect.Figure) string {
		return fmt.Sprintf("%s (%s to %s)", wording.WholePercent(min(1, f.Value)), wording.WholePercent(min(1, f.Low)), wording.WholePercent(min(1, f.High)))
	})
}

func (p *Report) subject() string {
	if len(p.Tables) == 0 {
		return "all tables"
	}
	names := make([]string, len(p.Tables))
	for i, name := range p.Tables {
		names[i] = short(name)
	}
	return wording.List(names)
}

// Render returns the report with its sentences, and without the findings and figures
// that only they are made of.
func (p *Report) Render() *Report {
	r := *p
	r.Hot, r.Warm = renderIncidents(p.Hot), renderIncidents(p.Warm)
	r.Summary = p.Outline().Summary()
	if p.Files != nil && p.blind() {
		r.Summary = say.BlindFiles(p.Files.Unjudged)
	}
	r.NotSeen = p.renderNotSeen()
	return &r
}

func renderIncidents(all []Incident) []Incident {
	all = append([]Incident{}, all...)
	for n := range all {
		i := &all[n]
		if i.Root != nil {
			brief := say.New(i.Root)
			i.FirstFix = cmp.Or(brief.Then, brief.Now)
			if i.Utilization != nil {
				i.Why, i.Limits = brief.Harm+" "+brief.Why, say.Limits(&i.Root.Quality)
			}
		}
		i.Root = nil
	}
	return all
}
