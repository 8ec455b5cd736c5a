package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/store"
)

// Render returns the report with its sentences, and without the findings and figures
// that only they are made of.
func (p *Report) Render() *Report {
	r := *p
	r.Hot, r.Warm = renderIncidents(p.Hot), renderIncidents(p.Warm)
	r.Healed = slices.DeleteFunc(slices.Clone(r.Hot), func(i Incident) bool { return i.State != detect.Resolved })
	r.NotTold = []string{
		"What it costs: the store knows neither prices nor bills.",
		"How capacity changed: only what a table was given last is kept.",
	}
	r.Summary = p.Outline().Summary()
	if p.Files != nil {
		r.NotTold = []string{"What was before and after the samples in the files.", "What it costs: samples hold no prices."}
		if p.blind() {
			r.Summary = cmp.Or(p.Files.Unjudged, "No samples were counted.") + " Whether any key was hot is not known."
		}
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
				i.Why, i.Limits = brief.Why, say.Limits(&i.Root.Quality)
			}
		}
		i.Root = nil
	}
	return all
}

func (p *Report) renderNotSeen() NotSeen {
	n := p.NotSeen
	n.Problems, n.Coverage, n.Cut = append([]collectorProblem{}, n.Problems...), append([]Coverage{}, n.Coverage...), append([]string{}, n.Cut...)
	for i := range n.Problems {
		if c := &n.Problems[i]; c.Status != nil {
			c.What, c.Status = c.describe(earlier(p.To, p.Made)), nil
		}
	}
	for i := range n.Coverage {
		c := &n.Coverage[i]
		c.Why, c.CloudWatch = cmp.Or(c.Why, p.explain(c)), nil
	}
	for i, code := range n.Cut {
		n.Cut[i] = cmp.Or(cuts[code], code)
	}
	return n
}

// cuts are the sentences about parts that were left out for their size.
var cuts = map[string]string{
	cutIncidents:   "There are " + count(maxIncidents) + " or more incidents: only those that were seen last are looked at.",
	cutTransitions: "There are " + count(maxTransitions) + " or more changes of incidents: later ones of the period are left out.",
	cutGaps:        "There are " + count(maxGaps) + " or more gaps: only those that were noticed last are listed.",
	cutSilences:    "There are " + count(maxSilences) + " or more silences: only those that end last are listed.",
	cutTables:      "There are " + count(maxTables) + " or more tables and indexes: the others are left out.",
}

// explain explains the coverage of a table.
func (p *Report) explain(c *Coverage) string {
	switch {
	case p.Files != nil:
		return "Nothing in files tells what part of its load the samples show."
	case c.Stale:
		return "Nothing was seen of it in this period, which is not to say that it was quiet."
	case c.CloudWatch == nil:
		return "CloudWatch is not read for it: nothing tells what part of its load the samples show."
	}
	return say.TableCloudWatch(c.CloudWatch)
}

// describe describes a collector's fault at the end of the period; empty for none.
func (c *collectorProblem) describe(end time.Time) string {
	var parts []string
	if end.Sub(c.Seen) > store.SilentAfter {
		parts = append(parts, "it has been silent since then, and did not say that it stops")
	}
	if c.Status.State == string(detect.CollectorFailing) {
		parts = append(parts, "it was failing: "+cmp.Or(c.Status.Reason, "it did not say why"))
	}
	if refused := c.Status.RefusedTables; len(refused) > 0 {
		parts = append(parts, fmt.Sprintf("it had no room for %s (%s)", plural(len(refused), "table", "tables"), strings.Join(refused[:min(len(refused), 5)], ", ")))
	}
	if share := c.Status.BadShare; share != nil && *share >= badShare {
		parts = append(parts, wording.Percent(*share)+" of what it read were bad samples")
	}
	return sentence(strings.Join(parts, "; "))
}

// Notice is a webhook's message about a report.
type Notice struct {
	ID   string    `json:"id"`
	Name string    `json:"name"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Outline is stored, and Summary is sent.
	Outline *Outline `json:"outline,omitempty"`
	Summary string   `json:"summary"`
	// Path is the report's path on the reporter's pages.
	Path string `json:"path"`
	// Hot are the worst incidents.
	Hot []Incident `json:"hot"`
}

// maxTold is how many incidents a notice has.
const maxTold = 5

// Notice returns the message about the report, as the store keeps it.
func (p *Report) Notice(id string) Notice {
	return Notice{ID: id, Name: p.Name, From: p.From, To: p.To, Outline: p.Outline(), Path: "/reports/" + id, Hot: p.Hot[:min(len(p.Hot), maxTold)]}
}

// ReadNotice returns a stored notice with its sentences.
func ReadNotice(document []byte) (n Notice, err error) {
	if err := json.Unmarshal(document, &n); err != nil {
		return n, fmt.Errorf("read a report's notice: %w", err)
	}
	if n.Outline != nil {
		n.Summary = n.Outline.Summary()
	}
	n.Outline, n.Hot = nil, renderIncidents(n.Hot)
	return n, nil
}
