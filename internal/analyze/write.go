package analyze

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

func (r *Result) write(out io.Writer, o *Options) error {
	var err error
	switch o.Format {
	case FormatJSON:
		err = r.writeJSON(out)
	case FormatCSV:
		err = r.writeCSV(out)
	case FormatHTML:
		err = r.report().Write(out, report.HTML)
	case FormatTable:
		_, err = io.WriteString(out, r.tableText(screen{terminal.WidthOf(out), cmp.Or(o.Top, maxRows), terminal.Is(out) && terminal.Colours()}))
	}
	if err != nil {
		return fmt.Errorf("write the findings: %w", err)
	}
	return nil
}

func (r *Result) report() *report.Report {
	claimed := r.Partitions
	if claimed != nil && !claimed.State.Claims() {
		claimed = nil
	}
	return report.OfFiles(report.Found{
		Files: report.Files{Samples: r.Samples.Good, Bad: r.Samples.Bad, Unjudged: say.IntakeFailure(&r.Samples), Notes: r.notes()}, Made: time.Now(),
		Incidents: casebook.Incidents(r.Findings), Findings: r.Findings, Tables: r.Tables, Partitions: claimed, Gaps: r.Gaps,
	})
}

// notes returns the remarks of a report on files beside the number of samples.
func (r *Result) notes() []string {
	all := []string{}
	for _, s := range slices.Concat([]string{say.Doubts(r.Doubts), say.Sums(r.Tables), say.IntakeShare(&r.Samples), say.UnreadRefusals(&r.Samples), say.RepeatedIDs(&r.Samples), say.UnsizedSamples(&r.Samples), say.ComputedUnits(&r.Samples)}, say.OtherKeys(r.Tables, r.Findings), say.Faults(&r.Samples), r.Notes) {
		if s != "" {
			all = append(all, strings.TrimSuffix(s, ".")+".")
		}
	}
	return all
}

func (r *Result) writeJSON(out io.Writer) error {
	text, err := wording.JSON(r)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}

// screen describes where a result is shown.
type screen struct {
	width   int // in characters; 0 if unknown
	rows    int // the most findings
	colours bool
}

func (r *Result) tableText(display screen) string {
	var b strings.Builder
	b.WriteString(r.verdict())
	if len(r.Findings) > 0 {
		b.WriteString(r.incidents(display) + "\n" + r.findings(display) + "\n")
	}
	if len(r.Tables) > 0 {
		b.WriteString("\n" + r.tables(display) + "\n" + r.sharedText())
		if views := r.views(display); views != "" {
			b.WriteString("\n" + views + "\n")
		}
	}
	if r.Partitions != nil {
		b.WriteString("\n" + r.partitionsText(display))
	}
	if len(r.Candidates) > 0 {
		b.WriteString("\n" + r.candidates(display) + "\n")
	}
	b.WriteString("\n" + r.samplesRead())
	return b.String()
}

// verdict returns the first sentence: no hot keys, a verdict on a part, or no verdict.
func (r *Result) verdict() string {
	doubts := say.Doubts(r.Doubts)
	switch s := &r.Samples; {
	case !s.Judged:
		return say.IntakeFailure(s) + "\n"
	case len(r.Findings) == 0:
		return wrap(say.NoHotKeys(s, r.Tables, doubts, len(r.Gaps) > 0)) + "\n"
	default:
		sentences := ""
		for _, sentence := range []string{doubts, say.Sums(r.Tables), say.IntakeShare(s), say.UnreadRefusals(s), say.RepeatedIDs(s), say.IntakeBound(s)} {
			if sentence != "" {
				sentences += wrap(sentence) + "\n\n"
			}
		}
		return sentences
	}
}

// samplesRead describes the read samples, and the unread ones.
func (r *Result) samplesRead() string {
	var b strings.Builder
	b.WriteString(say.IntakeCount(&r.Samples) + "\n")
	for _, fault := range say.Faults(&r.Samples) {
		fmt.Fprintf(&b, "  %s\n", fault)
	}
	if least := say.UnsizedSamples(&r.Samples); least != "" {
		b.WriteString(least + "\n")
	}
	if computed := say.ComputedUnits(&r.Samples); computed != "" && r.Samples.Judged {
		b.WriteString(wrap(computed) + "\n")
	}
	for _, sentence := range say.OtherKeys(r.Tables, r.Findings) {
		b.WriteString(sentence + "\n")
	}
	if unrated := say.RateWarning(&r.Samples); unrated != "" && r.Samples.Judged && len(r.Findings) == 0 {
		b.WriteString(wrap(unrated) + "\n")
	}
	for i := range r.Gaps {
		b.WriteString(strings.TrimSuffix(notCounted(&r.Gaps[i]), ".") + "\n")
	}
	var p page
	for _, note := range r.Notes {
		p.paragraph(0, "", note)
	}
	b.WriteString(p.String())
	return b.String()
}

// notCounted describes an unread part in a sentence.
func notCounted(g *sample.Gap) string {
	from := ""
	if g.From != "" {
		from = " from " + g.From
	}
	return "Not counted: " + printable(g.Partition) + from + ": " + printable(g.Reason) + "."
}

// maxIncidents and maxRows bound a terminal's list, unless Options.Top is set: the rest
// is in the other formats.
const (
	maxIncidents = 5
	maxRows      = 40
	maxAlike     = 3 // of one kind in an incident
)

// incidents returns the worst incidents, each with its first remedy.
func (r *Result) incidents(display screen) string {
	p, roots := &page{}, rootsByIncident(r.Findings)
	shown, most := 0, min(maxIncidents, display.rows)
	for i := range r.Incidents {
		in := &r.Incidents[i]
		if in.Severity == detect.Info || shown == most {
			continue
		}
		shown++
		p.incident(&in.Incident, roots[in.ID], display.colours)
	}
	if more := len(r.Incidents) - shown; more > 0 && shown == most {
		p.line("and %s more incidents", wording.Count(int64(more)))
	}
	if shown > 0 && !r.Samples.Means {
		p.line("  More of one: --explain KEY, or --explain TABLE for a table as a whole.")
	}
	return p.String()
}

// incident writes an incident's title, with what to do now and for good.
func (p *page) incident(in *detect.Incident, root *detect.Finding, colours bool) {
	brief := say.New(root)
	p.paragraph(2, "", was(in.State)+severity(in.Severity, colours)+" "+brief.Title)
	for _, l := range brief.Lines() {
		if l.Name == say.LineNow || l.Name == say.LineThen {
			p.paragraph(4, "    ", l.Label()+" "+l.Text)
		}
	}
}

// was is written before the severity of an incident that is over.
func was(s detect.State) string {
	if s == detect.Resolved {
		return "was "
	}
	return ""
}

func (r *Result) findings(display screen) string {
	t := terminal.Table{Columns: []terminal.Column{
		{Name: "severity"}, {Name: "state", Spare: 2}, {Name: "case", Spare: 1}, {Name: "key", Least: 20}, {Name: "table", Least: 12},
		{Name: "peak/s", Right: true}, {Name: "of limit", Right: true}, {Name: "seconds over", Right: true, Spare: 3},
		{Name: "shards", Right: true}, {Name: "peak at", Spare: 4},
	}}
	rows, alike, least, more := 0, 0, false, false
	for _, group := range casebook.Roots(r.Findings) {
		shown := dropAlike(group)
		for i, f := range shown[:min(len(shown), display.rows-rows)] {
			branch := ""
			if i > 0 {
				branch = "└ " // explained by the incident's first row
			}
			peak, ofLimit, at := peakCells(f)
			t.Add(severity(f.Severity, display.colours), string(f.State), string(f.Case), branch+text.Trim(subject(f), 48), r.target(f.Target),
				peak, ofLimit, wording.OverSeconds(f), shardsCell(f, group[0]), at)
			least, more = least || f.OnlyMean(), more || strings.HasPrefix(wording.OverSeconds(f), "≥")
			rows++
		}
		if hidden := len(group) - len(shown); hidden > 0 && rows < display.rows {
			t.Add("", "", "", fmt.Sprintf("└ and %s like these", wording.Count(int64(hidden))))
			alike += hidden
		}
	}
	shown := t.Render(display.width)
	if least {
		shown += "\n" + wrap(say.LeastPeak)
	}
	if more {
		shown += "\n" + wrap(say.LeastSeconds)
	}
	switch hidden := len(r.Findings) - rows - alike; {
	case hidden > 0:
		return shown + fmt.Sprintf("\nand %s more: --top shows more, -o csv, json or html has all", wording.Count(int64(hidden)))
	case alike > 0:
		return shown + "\n-o csv, json or html has all rows"
	}
	return shown
}

// dropAlike returns the findings of an incident without repetitions of many similar ones.
func dropAlike(group []*detect.Finding) (shown []*detect.Finding) {
	alike := map[string]int{}
	for _, f := range group {
		if alike[f.About()]++; alike[f.About()] <= maxAlike {
			shown = append(shown, f)
		}
	}
	return shown
}

// shardsCell returns the number of key shards that carry a finding's load; empty if none
// are advised, and for a finding about one of a key's shards.
func shardsCell(f, root *detect.Finding) string {
	if !casebook.AdvisesShards(f) || f != root && root.Sharding != nil {
		return ""
	}
	return strconv.Itoa(f.Shards)
}

// tables writes the load of each table and index, and its throttled requests, if any.
func (r *Result) tables(display screen) string {
	t := terminal.Table{Columns: []terminal.Column{
		{Name: "table", Least: 20}, {Name: "seconds", Right: true, Spare: 1}, {Name: "requests seen", Right: true},
		{Name: "write units", Right: true}, {Name: "read units", Right: true},
	}}
	if slices.ContainsFunc(r.Tables, func(t detect.Table) bool { return t.Throttled.Requests > 0 }) {
		t.Columns = append(t.Columns, terminal.Column{Name: "throttled seen", Right: true}, terminal.Column{Name: "units throttled", Right: true, Spare: 2})
	}
	for _, s := range r.Tables {
		row := []string{
			r.target(s.Target), wording.Count(s.Seconds), wording.Count(s.Requests),
			wording.About(s.WCU), wording.About(s.RCU), wording.Count(s.Throttled.Requests), wording.About(s.Throttled.WCU + s.Throttled.RCU),
		}
		t.Add(row[:len(t.Columns)]...)
	}
	return t.Render(display.width)
}

// partitionsText writes a table's partitions with their load, and the splits seen.
func (r *Result) partitionsText(display screen) string {
	v := r.Partitions
	t := terminal.Table{Columns: []terminal.Column{
		{Name: "partition", Least: 13}, {Name: "peak WCU/s", Right: true}, {Name: "of limit", Right: true},
		{Name: "peak at", Spare: 1}, {Name: "busiest keys", Least: 20},
	}}
	for i := range v.Partitions {
		part := &v.Partitions[i]
		peak := ""
		if part.WCU.Value > 0 {
			peak = clock(part.WritePeak.Unix())
		}
		t.Add(say.PartitionName(v.State, &part.PartitionRange), wording.About(part.WCU.Value), wording.Part(part.Utilization()), peak,
			say.BusyKeys(part.Busiest))
	}
	text := wrap(say.Partitions(v)) + "\n" + t.Render(display.width) + "\n"
	for i := range v.Splits {
		text += wrap(clock(v.Splits[i].At.Unix())+": "+say.DescribeSplit(&v.Splits[i])) + "\n"
	}
	return text
}

func severity(s detect.Severity, colours bool) string {
	if !colours {
		return string(s)
	}
	return terminal.Severity(string(s))
}

// target writes a table, or an index as table/index, after the account and the Region if
// known.
func target(t detect.Target) string { return printable(t.Name()) }

// target writes a table or index for the narrow columns of a result: without the account,
// or the Region, that all of its tables share.
func (r *Result) target(t detect.Target) string {
	account, region := false, false
	for i := range r.Tables {
		account = account || r.Tables[i].Account != r.Tables[0].Account
		region = region || r.Tables[i].Region != r.Tables[0].Region
	}
	if !account {
		t.Account = ""
	}
	if !region {
		t.Region = ""
	}
	return target(t)
}

// sharedText names the account and Region that the columns leave out; empty if unknown.
func (r *Result) sharedText() string {
	if len(r.Tables) == 0 {
		return ""
	}
	whole, shown := r.Tables[0].Target, r.target(r.Tables[0].Target)
	var parts []string
	if whole.Account != "" && !strings.HasPrefix(shown, whole.Account+"/") {
		parts = append(parts, "account "+printable(whole.Account))
	}
	if whole.Region != "" && !strings.Contains("/"+shown, "/"+whole.Region+"/") {
		parts = append(parts, "Region "+printable(whole.Region))
	}
	if len(parts) == 0 {
		return ""
	}
	return "All of " + strings.Join(parts, ", ") + ".\n"
}

// subject writes the key of a finding, or that the finding is about all keys.
func subject(f *detect.Finding) string {
	switch {
	case f.Key != "":
		return printable(f.Key)
	case f.Index != "":
		return "(whole index)"
	}
	return "(whole table)"
}

// peakCells returns the size of a finding's load, its share of the limit, and its time.
// The time is empty if the load is only a mean.
func peakCells(f *detect.Finding) (load, ofLimit, at string) {
	load, ofLimit = wording.Load(f)
	if f.OnlyMean() {
		return load, ofLimit, ""
	}
	return load, ofLimit, f.Peak.At.Format(time.RFC3339)
}

// printable returns text that is safe for a terminal, or a dash for an empty one.
func printable[T ~string](s T) string { return cmp.Or(wording.Printable(s), "-") }
