package analyze

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/recipe"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
	"github.com/keyheat/keyheat/sketch"
)

// explanation is everything that is known of one key, or pattern of keys.
type explanation struct {
	key         string
	found       []detect.Finding
	seconds     []keySeconds
	tables      map[detect.Target]detect.Table
	whole       []wholeTable // the tables and indexes that the text names
	suggestions []sample.Text
	samplesRead string
	computed    string            // how far the samples state units
	ofMany      []*detect.Finding // those about more than one key, but for information
	code        []recipe.Language
	facts       func(detect.Target) *detect.TableFacts
	policy      func(detect.Target) detect.Policy
	roots       map[string]*detect.Finding // what incidents are about, by their IDs
	verbose     bool
}

// The most that a page lists beside its subject without Options.Verbose: other keys where the
// key is not in the samples, and other matters of the key.
const (
	maxSuggestions = 10
	maxAlso        = 3
)

func (f *samples) explain(key string, r *Result, o Options) *explanation {
	e := &explanation{
		verbose: o.Verbose, code: o.Code, facts: o.Facts, policy: o.board().Policy, key: key, seconds: f.find(sample.Text(key)), tables: map[detect.Target]detect.Table{},
		whole: r.wholeTables(key), samplesRead: r.samplesRead(), computed: say.IntakeBound(&r.Samples), roots: rootsByIncident(r.Findings),
	}
	for i := range r.Findings {
		found := &r.Findings[i]
		if !found.Subject.OfKey() && found.Severity != detect.Info {
			e.ofMany = append(e.ofMany, found)
		}
		if found.Key == sample.Text(key) || isWhole(found, key) || found.Sharding != nil && !found.Subject.OfKey() && found.Sharding.Base == sample.Text(key) {
			e.found = append(e.found, *found)
		} else if found.Key != "" && len(e.suggestions) < maxSuggestions && !slices.Contains(e.suggestions, found.Key) {
			e.suggestions = append(e.suggestions, found.Key)
		}
	}
	for _, t := range r.Tables {
		e.tables[t.Target] = t
	}
	return e
}

// isWhole reports whether a finding is about a table or index as a whole, and the text
// names that: as the table of findings does, or by its name.
func isWhole(f *detect.Finding, text string) bool {
	return f.Key == "" && slices.Contains([]string{subject(f), f.Table, f.Name()}, text)
}

// isUnknown reports whether nothing is known by the name that is asked for.
func (e *explanation) isUnknown() bool { return len(e.found)+len(e.seconds)+len(e.whole) == 0 }

func (e *explanation) write(out io.Writer) error {
	p := &page{}
	if e.isUnknown() {
		p.paragraph(0, "", say.NotInSamples(sample.Text(e.key)))
		if len(e.suggestions) > 0 {
			p.line("Keys with findings:")
			for _, key := range e.suggestions {
				p.line("  %s", printable(key))
			}
		}
		p.WriteString(e.samplesRead)
	}
	if e.verbose {
		e.everything(p)
	} else {
		e.worst(p)
	}
	for _, l := range e.code {
		e.recipe(p, l)
	}
	_, err := io.WriteString(out, p.String())
	return err
}

// worst writes a page about the worst finding, or about the key or table without one, and
// a line about each other matter.
func (e *explanation) worst(p *page) {
	others := e.withoutFinding()
	switch {
	case len(e.found) > 0:
		e.finding(p, &e.found[0])
		if len(e.whole) > 0 {
			e.whole[0].figures(p)
		}
	case len(e.whole) > 0:
		e.whole[0].write(p, false)
	case len(others) > 0:
		e.calm(p, others[0])
		others = others[1:]
	}
	var also []string
	for i := 1; i < len(e.found); i++ {
		f, first := &e.found[i], &e.found[0]
		if f.KeyRef != first.KeyRef || f.InReads() != first.InReads() { // else the same load
			also = append(also, say.Title(f))
		}
	}
	for _, s := range others {
		also = append(also, target(s.target)+": "+e.noFinding(s))
	}
	for i := 1; i < len(e.whole); i++ {
		also = append(also, target(e.whole[i].Target)+" as a whole")
	}
	if len(also) > 0 {
		p.heading("Also")
		for _, text := range also[:min(len(also), maxAlso)] {
			p.paragraph(2, "  ", text)
		}
	}
	if !e.isUnknown() {
		p.line("\n--verbose: evidence, bounds and each step in full.")
	}
}

// everything writes a page about each finding, key and table by the name.
func (e *explanation) everything(p *page) {
	next := func() {
		if p.Len() > 0 {
			p.rule()
		}
	}
	for i := range e.found {
		next()
		e.finding(p, &e.found[i])
	}
	for _, s := range e.withoutFinding() {
		next()
		e.calm(p, s)
	}
	for i := range e.whole {
		next()
		e.whole[i].write(p, true)
	}
}

// withoutFinding returns the key's seconds in tables and indexes that have no finding of it.
func (e *explanation) withoutFinding() (all []keySeconds) {
	for _, s := range e.seconds {
		if !slices.ContainsFunc(e.found, func(f detect.Finding) bool { return f.Target == s.target }) {
			all = append(all, s)
		}
	}
	return all
}

// recipe writes the code of the key's shards, of the first finding that has some.
func (e *explanation) recipe(p *page, l recipe.Language) {
	for i := range e.found {
		if text, known := recipe.Code(&e.found[i], attributes(&e.found[i], e.facts), l); known {
			p.rule()
			p.WriteString("\n" + text)
			return
		}
	}
	p.line("\nThere is no code in %s: no step makes shards with names of text, the key is hidden, or the table takes no transactions.", l)
}

// attributes returns the names of the key's attributes, as far as they are known.
func attributes(f *detect.Finding, facts func(detect.Target) *detect.TableFacts) (a recipe.Attributes) {
	known := facts(f.Target)
	if known == nil {
		return a
	}
	if f.Index == "" {
		return recipe.AttributesOf(known.KeySchema)
	}
	a = recipe.AttributesOf(known.Indexes[f.Index].KeySchema)
	a.Table = slices.Concat(known.KeySchema.PartitionKey, known.KeySchema.SortKey)
	return a
}

// finding writes a page about one finding: its answers, its load and the steps. With
// verbose it also writes the facts behind them.
func (e *explanation) finding(p *page, f *detect.Finding) {
	told := f
	if r := e.roots[f.Incident]; !e.verbose && r != nil && r.KeyRef == f.KeyRef && r.InReads() == f.InReads() {
		told = r // as the alert tells it
	}
	p.paragraph(0, "", fmt.Sprintf("[%s] %s", strings.ToUpper(was(told.State)+string(told.Severity)), say.Title(told)))
	brief := say.New(told)
	for _, l := range brief.Lines() {
		p.paragraph(9, fmt.Sprintf("  %-7s", strings.TrimSuffix(l.Name, " by itself?")), l.Text)
	}
	root := e.explains(f)
	if root != nil {
		p.paragraph(9, "  Cause  ", say.Title(root)+".")
	}
	e.chart(p, f)
	if !e.verbose {
		shortSteps(p, f)
		return
	}
	p.heading("Load")
	p.facts(say.Figures(f))
	e.steps(p, f, root)
	p.heading("Evidence")
	p.fact("finding", "%s, %s, of %s", f.Case, f.State, target(f.Target))
	p.facts(say.Details(f))
	p.facts(say.Requests(f))
	p.heading("Confidence")
	p.fact("figures", "%s", say.Bounds(f, e.tables[f.Target], e.highest(f)))
	if f.Quality.Estimated != nil && *f.Quality.Estimated && e.computed != "" {
		p.fact("units", "%s", e.computed)
	}
	p.facts(say.Proof(f, e.tables[f.Target]))
	for i := range f.Quality.Gaps {
		p.fact("gap", "%s", notCounted(&f.Quality.Gaps[i]))
	}
}

// explains returns the finding whose incident a finding is part of, if that one is about
// another key; nil for none.
func (e *explanation) explains(f *detect.Finding) *detect.Finding {
	root := e.roots[f.Incident]
	if root == nil || root.Fingerprint == f.Fingerprint || root.Key == f.Key || len(root.Advice) == 0 {
		return nil
	}
	return root
}

// shortSteps writes each step in a line: the action, its effort and the load that it
// leaves.
func shortSteps(p *page, f *detect.Finding) {
	steps := casebook.Steps(f)
	if len(steps) == 0 {
		return
	}
	p.heading("Steps")
	n := 0
	for i := range steps {
		s := &steps[i]
		if s.Action == detect.ActionMigrate {
			continue
		}
		n++
		text := fmt.Sprintf("%s (%s)", say.Imperative(f, s), say.Takes(s))
		if s.After != nil {
			text += ": leaves " + say.Leaves(s)
		}
		p.paragraph(5, fmt.Sprintf("  %d. ", n), text+".")
	}
	p.guides(steps)
}

// steps writes each step with its facts, after the step of the finding that explains this one.
func (e *explanation) steps(p *page, f, root *detect.Finding) {
	heading, steps := "What to do, in order", casebook.Steps(f)
	if root != nil && root.Case != casebook.MovingSpot { // the key's own advice is already the hot spot's
		first := &root.Advice[0]
		p.heading("What to do first, for " + subject(root))
		p.paragraph(2, "  ", say.Imperative(root, first)+". "+say.StepWhy(root, first))
		heading = "What can be done for this key alone"
		if f.Key == "" {
			heading = "What can be done for the table or index itself"
		}
		steps = slices.DeleteFunc(slices.Clone(steps), func(s detect.Step) bool {
			return s.Fix == first.Fix || s.Action == detect.ActionRename && first.Action == detect.ActionRename
		})
	}
	p.heading(heading)
	if len(steps) == 0 {
		p.paragraph(2, "  ", "Nothing.")
	}
	for i := range steps {
		s := &steps[i]
		p.paragraph(5, fmt.Sprintf("  %d. ", i+1), say.Imperative(f, s)+". "+say.StepWhy(f, s))
		for _, l := range say.StepFacts(f, s) {
			if s.Action == detect.ActionMigrate && l.Text != say.Adds(s.Cost) {
				continue // its effort and load are the shards' own
			}
			p.paragraph(13, fmt.Sprintf("     %-8s", l.Label()), l.Text)
		}
	}
	p.guides(steps)
}

// highest returns the most units that samples have in one second of a finding's episode.
func (e *explanation) highest(f *detect.Finding) (highest float64) {
	for _, s := range e.seconds {
		if s.target != f.Target || sample.Text(s.key.Text) != f.Key {
			continue
		}
		for _, at := range s.seconds {
			if at.At >= f.FirstSeen.Unix() && at.At <= f.LastSeen.Unix() {
				highest = max(highest, hotUnits(f, at.Low))
			}
		}
	}
	return highest
}

// hotUnits returns a load in the unit of a finding's limit.
func hotUnits(f *detect.Finding, l sketch.Load) float64 {
	return detect.Units(detect.SideOf(f, l.Write, l.Read))
}

// noFinding explains why a key has no finding, and names a finding that concerns it.
func (e *explanation) noFinding(s keySeconds) string {
	highest := 0.0
	for _, second := range s.seconds {
		load := second.Low.Plus(second.Err)
		highest = max(highest, detect.Ratio(detect.Units(load.Write), detect.Units(detect.PartitionWrite)), detect.Ratio(detect.Units(load.Read), detect.Units(detect.PartitionRead)))
	}
	t := e.tables[s.target]
	text := say.NoFinding(s.key.Text, highest, &t, e.policy(s.target))
	for _, f := range e.ofMany {
		if concerns(f, s) {
			text += " " + say.Concern(f)
		}
	}
	return text
}

// concerns reports whether a finding about many keys concerns a key without a finding.
func concerns(f *detect.Finding, s keySeconds) bool {
	if f.Target != s.target || f.Sharding == nil {
		return f.Target == s.target && f.Key == ""
	}
	shard, is := shardkey.Parse(s.key.Text)
	return is && sample.Text(shard.Base) == f.Sharding.Base
}

// calm writes a page about a key without a finding.
func (e *explanation) calm(p *page, s keySeconds) {
	p.line("%s in %s", printable(s.key.Text), target(s.target))
	p.paragraph(2, "  ", e.noFinding(s))
	p.heading("Load")
	var most sketch.Load
	for _, second := range s.seconds {
		load := second.Low.Plus(second.Err)
		most.Write, most.Read = max(most.Write, load.Write), max(most.Read, load.Read)
	}
	t := e.tables[s.target]
	if t.Resolution <= 1 {
		p.facts(say.CalmLoad(most.Write, most.Read, t.IsSampled()))
	}
	if all := t.Seconds / max(t.Resolution, 1); all >= int64(len(s.seconds)) {
		s.write.Pass(all - int64(len(s.seconds)))
		s.read.Pass(all - int64(len(s.seconds)))
		p.facts(say.CalmMean(s.write.Mean(0), s.read.Mean(0), t.Seconds))
	}
	p.fact("seen", "in %s, from %s to %s", wording.Seconds(len(s.seconds)), clock(s.seconds[0].At), clock(s.seconds[len(s.seconds)-1].At))
}

func clock(second int64) string { return time.Unix(second, 0).UTC().Format("15:04:05") }

// chart draws the key's load second by second, its highest one for each column,
// against the limit.
func (e *explanation) chart(p *page, f *detect.Finding) {
	limit := detect.Units(f.Limit())
	for _, s := range e.seconds {
		if s.target != f.Target || sample.Text(s.key.Text) != f.Key {
			continue
		}
		span := max(e.tables[s.target].Resolution, 1)
		from, to := s.seconds[0].At, s.seconds[len(s.seconds)-1].At+span
		each := (to - from + chartWidth - 1) / chartWidth
		loads := make([]float64, (to-from+each-1)/each)
		for _, at := range s.seconds {
			for i := (at.At - from) / each; i <= (at.At+span-1-from)/each; i++ {
				loads[i] = max(loads[i], hotUnits(f, at.Low))
			}
		}
		highest := slices.Max(loads)
		if highest == 0 {
			return // all of it is of other Regions
		}
		if f.Quality.IsSampled() { // the highest of many estimates is noise
			highest = min(highest, detect.SideOf(f, f.Peak.WCU, f.Peak.RCU).Value)
		}
		draw(p, loads, max(highest, limit), limit)
		p.line("          %-*s %s", max(1, len(loads)-9), clock(from), clock(to-1))
		p.line("          %s", say.ChartNote(f, int(each)))
		return
	}
}
