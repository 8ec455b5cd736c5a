package analyze

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// The widths that keep a line within 120 characters.
const (
	tableWidth = 20
	keyWidth   = 18
)

func (r *Result) views(display screen) string {
	t := terminal.Table{Columns: []terminal.Column{
		{Name: "table", Least: 10}, {Name: "keys", Right: true}, {Name: "effective", Right: true, Spare: 3}, {Name: "key like", Least: 10, Spare: 1},
		{Name: "top key", Least: 10}, {Name: "share", Right: true}, {Name: "ceiling/s", Right: true, Spare: 2}, {Name: "design"},
	}}
	var sentences []string
	for _, s := range r.Tables {
		if s.View == nil {
			continue
		}
		name := r.target(s.Target)
		top, share := topKey(s.View)
		t.Add(shorten(name, tableWidth), keysCell(s.View), effectiveCell(s.View), shapeText(s.View), top, share, ceiling(s.View), string(s.View.Design.Verdict))
		sentences = append(sentences, wrap(name+": "+say.Design(s.View)+say.JudgedTime(&s)))
		if len(s.View.Top) > 1 {
			sentences = append(sentences, wrap("  most load: "+say.HeaviestKeys(s.View)))
		}
	}
	if len(sentences) == 0 {
		return ""
	}
	return t.Render(display.width) + "\n\n" + strings.Join(sentences, "\n")
}

// candidates writes the proposed keys below the present one of each table.
func (r *Result) candidates(display screen) string {
	t := terminal.Table{Columns: []terminal.Column{
		{Name: "table", Least: 10}, {Name: "partition key", Least: 13}, {Name: "keys", Right: true}, {Name: "effective", Right: true, Spare: 3},
		{Name: "hottest second", Right: true}, {Name: "key like", Least: 10, Spare: 2}, {Name: "ceiling/s", Right: true, Spare: 1}, {Name: "design"},
	}}
	add := func(name, key string, v *detect.View) {
		t.Add(shorten(name, tableWidth), shorten(printable(key), keyWidth), keysCell(v), effectiveCell(v), hottestCell(v), shapeText(v), ceiling(v), string(v.Design.Verdict))
	}
	var sentences []string
	last := detect.Target{}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if c.Target != last {
			for j := range r.Tables {
				if p := &r.Tables[j]; p.Target == c.Target && p.View != nil {
					add(r.target(c.Target), "(present)", p.View)
				}
			}
		}
		last = c.Target
		switch {
		case c.View == nil:
			sentences = append(sentences, wrap(fmt.Sprintf("%s by %s: no sample has every part of this key; see attrs in the sample format.", r.target(c.Target), printable(c.Candidate))))
			continue
		case c.Without > 0:
			sentences = append(sentences, wrap(fmt.Sprintf("%s by %s: %d samples, with %s of the load, lack a part of this key and are not counted.", r.target(c.Target), printable(c.Candidate), c.Without, wording.Part(c.WithoutShare))))
		}
		add(r.target(c.Target), c.Candidate, c.View)
		sentences = append(sentences, wrap(fmt.Sprintf("%s by %s: %s", r.target(c.Target), printable(c.Candidate), say.Design(c.View))))
	}
	return t.Render(display.width) + "\n\n" + strings.Join(sentences, "\n")
}

// keysCell writes the number of keys, with ~ for an estimate, and ≥ for a lower bound.
func keysCell(v *detect.View) string {
	n := wording.Significant(v.DistinctKeys.Value)
	if v.DistinctKeys.Low == v.DistinctKeys.High {
		return n
	}
	if v.DistinctKeys.Low == v.DistinctKeys.Value {
		return "≥" + n
	}
	return "~" + n
}

func effectiveCell(v *detect.View) string {
	switch n := v.EffectiveKeys; {
	case n == nil:
		return "-"
	case *n < 10:
		return fmt.Sprintf("%.1f", *n)
	default:
		return wording.Significant(*n)
	}
}

func shapeText(v *detect.View) string {
	if v.Template.Pattern == "" {
		return "(mixed)"
	}
	return shorten(printable(v.Template.Pattern), keyWidth)
}

func topKey(v *detect.View) (key, share string) {
	if len(v.Top) == 0 {
		return "-", "-"
	}
	top := v.Top[0]
	share = fmt.Sprintf("%.1f%%", 100*top.Share.Low)
	if top.Share.High-top.Share.Low > 0.001 {
		share = fmt.Sprintf("%.1f–%.1f%%", 100*top.Share.Low, 100*top.Share.High)
	}
	return shorten(printable(top.Key), keyWidth), share
}

// ceiling writes the load of all keys at which the hottest key fills its partition. It
// uses the nearer ceiling at the observed mix of reads and writes.
func ceiling(v *detect.View) string {
	switch c := v.Ceiling; {
	case c.WCU != nil && !ceilingOfReads(v):
		return wording.Significant(*c.WCU) + " WCU"
	case c.RCU != nil:
		return wording.Significant(*c.RCU) + " RCU"
	}
	return "-"
}

// ceilingOfReads reports whether the nearer ceiling is a ceiling of reads. A partition
// may serve more reads than is certain.
func ceilingOfReads(v *detect.View) bool {
	return v.Ceiling.RCU != nil && (v.Ceiling.WCU == nil || v.WriteShare < 0.5)
}

// hottestCell writes the highest second of any key, in the unit nearer to its limit.
func hottestCell(v *detect.View) string {
	if v.Hottest.WCU/detect.Units(detect.PartitionWrite) < v.Hottest.RCU/detect.Units(detect.PartitionRead) {
		return wording.Significant(v.Hottest.RCU) + " RCU"
	}
	return wording.Significant(v.Hottest.WCU) + " WCU"
}

func shorten(s string, width int) string {
	if text.StringWidthWithoutEscSequences(s) <= width {
		return s
	}
	return text.Trim(s, width-1) + "…"
}

func wrap(s string) string { return terminal.Wrap(s, pageWidth) }

// wholeTable is a table or index to explain as a whole, even if nothing is wrong with it.
type wholeTable struct {
	*detect.Table
	incidents []wholeIncident
	doubts    []detect.Doubt // about its keys
}

// wholeIncident is an incident, and its findings about one table or index.
type wholeIncident struct {
	root *detect.Finding
	*detect.Incident
	findings []*detect.Finding
}

// wholeTables returns the tables and indexes with a name, as the table of findings writes
// it or in full.
func (r *Result) wholeTables(name string) (all []wholeTable) {
	for i := range r.Tables {
		t := &r.Tables[i]
		if slices.Contains([]string{r.target(t.Target), target(t.Target), t.Name()}, name) || t.Index == "" && t.Table == name {
			doubts := slices.DeleteFunc(slices.Clone(r.Doubts), func(d detect.Doubt) bool { return d.Target != t.Target })
			all = append(all, wholeTable{t, r.incidentsOf(t.Target), doubts})
		}
	}
	return all
}

// incidentsOf returns the incidents with findings of a table or index, the worst first.
func (r *Result) incidentsOf(target detect.Target) (all []wholeIncident) {
	groups := casebook.Roots(r.Findings)
	for i := range r.Incidents {
		in := wholeIncident{Incident: &r.Incidents[i].Incident}
		for _, g := range groups {
			if g[0].Incident != in.ID {
				continue
			}
			in.root = g[0]
			for _, f := range g {
				if f.Target == target {
					in.findings = append(in.findings, f)
				}
			}
		}
		if len(in.findings) > 0 {
			all = append(all, in)
		}
	}
	return all
}

// maxWhole is how many incidents a page about a table or index lists.
const maxWhole = 3

// write writes a page about the table or index.
func (w *wholeTable) write(p *page, verbose bool) {
	p.line("%s as a whole", target(w.Target))
	switch doubts := say.Doubts(w.doubts); {
	case doubts != "":
		p.paragraph(2, "  ", doubts)
	case len(w.incidents) == 0:
		p.paragraph(2, "  ", say.Empty.Whole)
	}
	for _, in := range w.incidents[:min(len(w.incidents), maxWhole)] {
		p.incident(in.Incident, in.root, false)
		if !verbose {
			continue
		}
		shown := dropAlike(in.findings)
		for _, f := range shown {
			p.paragraph(6, "      ", fmt.Sprintf("%s %s: %s", f.Case, subject(f), wording.LoadOfLimit(f)))
		}
		if more := len(in.findings) - len(shown); more > 0 {
			p.line("      and %s like these", wording.Count(int64(more)))
		}
	}
	if more := len(w.incidents) - maxWhole; more > 0 {
		p.line("and %s more incidents", wording.Count(int64(more)))
	}
	w.figures(p)
	if v := w.View; verbose && v != nil {
		p.heading("More about the keys")
		if v.Template.Pattern != "" {
			p.fact("form", "%d of %d compared are like %s", v.Template.Keys, v.Template.Of, printable(v.Template.Pattern))
		}
		if v.EffectiveKeys != nil {
			p.fact("effective", "as uneven as %s keys with equal load", effectiveCell(v))
		}
		if c := ceiling(v); c != "-" {
			p.fact("ceiling", "about %s/s of all keys; then the hottest one fills its partition", c)
		}
	}
}

// figures writes the load of the table or index, its keys, and the verdict on them.
func (w *wholeTable) figures(p *page) {
	p.heading("Load of " + target(w.Target))
	p.facts(say.TableLoad(w.Table))
	p.facts(say.RefusedKeys(w.RefusedKeys))
	if w.Walk != nil {
		p.fact("walk", "%s", say.Walk(w.Walk))
	}
	v := w.View
	if v == nil {
		return
	}
	p.fact("keys", "%s", keysCell(v))
	if len(v.Top) > 0 {
		p.fact("most load", "%s", say.HeaviestKeys(v))
	}
	p.fact("design", "%s. %s", v.Design.Verdict, say.Design(v)+say.JudgedTime(w.Table))
}
