package analyze

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/analyze/intake"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/say"
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
		_, err = io.WriteString(out, r.text(screen{terminal.WidthOf(out), cmp.Or(o.Top, maxRows), terminal.Is(out) && terminal.Colours()}))
	}
	if err != nil {
		return fmt.Errorf("write the findings: %w", err)
	}
	return nil
}

// report returns the result in the form of the reports.
func (r *Result) report() *report.Report {
	return report.OfFiles(report.Found{
		Files: report.Files{Samples: r.Samples.Good, Bad: r.Samples.Bad, Unjudged: r.Samples.UnjudgedText(), Notes: r.notes()}, Made: time.Now(),
		Incidents: r.Incidents, Findings: r.Findings, Tables: r.Tables, Gaps: r.Gaps,
	})
}

// notes are the remarks of a report on files beside the number of samples.
func (r *Result) notes() []string {
	all := []string{}
	for _, s := range slices.Concat([]string{r.Samples.Covers(), r.Samples.LowerBoundText(), r.Samples.ComputedText()}, intake.OtherKeys(r.Tables, r.Findings), r.Samples.FaultSentences(), r.Notes) {
		if s != "" {
			all = append(all, strings.TrimSuffix(s, ".")+".")
		}
	}
	return all
}

// writeJSON writes the result so that it can also be looked at.
func (r *Result) writeJSON(out io.Writer) error {
	text, err := wording.JSON(r)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}

var csvColumns = []string{
	"fingerprint", "kind", "table", "index", "key", "key_type", "severity", "state",
	"peak_at", "peak_wcu", "peak_wcu_low", "peak_wcu_high", "peak_rcu", "peak_rcu_low", "peak_rcu_high",
	"mean_wcu", "mean_rcu", "over_seconds", "possible_seconds", "saturated_seconds",
	"utilization", "share", "reason", "shards", "first_seen", "last_seen", "account", "region", "note",
}

// The kinds of the row that limits the findings of a CSV.
const (
	kindUnjudged = "not_judged"
	kindPartly   = "partly_judged"
)

// note returns the kind and the note of a row that is no finding: the unjudged part;
// empty when all was judged. Without it, no rows would look like no hot keys.
func (r *Result) note() (kind, note string) {
	parts := []string{r.Samples.Covers()}
	switch {
	case !r.Samples.Judged:
		kind, parts = kindUnjudged, []string{r.Samples.UnjudgedText()}
	case r.Samples.Partial() || len(r.Gaps) > 0:
		kind = kindPartly
	default:
		return "", ""
	}
	for i := range r.Gaps {
		parts = append(parts, notCounted(&r.Gaps[i]))
	}
	return kind, strings.TrimSpace(strings.Join(append(parts, r.Samples.FaultSentences()...), " "))
}

func (r *Result) writeCSV(out io.Writer) error {
	w := csv.NewWriter(out)
	_ = w.Write(csvColumns) // Error returns what went wrong with any
	if kind, note := r.note(); kind != "" {
		row := make([]string, len(csvColumns))
		row[1], row[len(row)-1] = kind, wording.Cell(note)
		_ = w.Write(row)
	}
	roots := rootsByIncident(r.Findings)
	for i := range r.Findings {
		f := &r.Findings[i]
		_ = w.Write(record(f, roots[f.Incident]))
	}
	w.Flush()
	return w.Error()
}

// rootsByIncident returns the finding that each incident is about, by the incident's ID.
func rootsByIncident(found []detect.Finding) map[string]*detect.Finding {
	roots := map[string]*detect.Finding{}
	for _, group := range detect.Roots(found) {
		roots[group[0].Incident] = group[0]
	}
	return roots
}

func record(f, root *detect.Finding) []string {
	at := func(t time.Time) string { return t.Format(time.RFC3339) }
	decimal := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return []string{
		f.Fingerprint, string(f.Kind), wording.Cell(f.Table), wording.Cell(f.Index), wording.Cell(f.Key), f.KeyType, string(f.Severity), string(f.State),
		at(f.Peak.At), decimal(f.Peak.WCU.Value), decimal(f.Peak.WCU.Low), decimal(f.Peak.WCU.High),
		decimal(f.Peak.RCU.Value), decimal(f.Peak.RCU.Low), decimal(f.Peak.RCU.High),
		decimal(f.Mean.WCU.Value), decimal(f.Mean.RCU.Value),
		provenOver(f), strconv.Itoa(f.PossibleSeconds), strconv.Itoa(f.SaturatedSeconds),
		decimal(f.Utilization), decimal(f.Share), string(f.Reason), shardsCell(f, root),
		at(f.FirstSeen), at(f.LastSeen), f.Account, f.Region, "",
	}
}

// screen is where a result is shown.
type screen struct {
	width   int // in characters; 0 where that is not known
	rows    int // the most findings
	colours bool
}

// text returns the result for a person.
func (r *Result) text(on screen) string {
	var b strings.Builder
	b.WriteString(r.verdict())
	if len(r.Findings) > 0 {
		b.WriteString(r.incidents(on) + "\n" + r.findings(on) + "\n")
	}
	if len(r.Tables) > 0 {
		b.WriteString("\n" + r.tables(on) + "\n" + r.sharedText())
		if views := r.views(on); views != "" {
			b.WriteString("\n" + views + "\n")
		}
	}
	if len(r.Candidates) > 0 {
		b.WriteString("\n" + r.candidates(on) + "\n")
	}
	b.WriteString("\n" + r.samplesRead())
	return b.String()
}

// verdict returns the first sentence: that there are no hot keys, that the verdict does
// not cover all, or that there is none.
func (r *Result) verdict() string {
	switch s := &r.Samples; {
	case !s.Judged:
		return s.UnjudgedText() + "\n"
	case s.Partial() && len(r.Findings) == 0:
		return "No hot keys in what could be read. " + s.Covers() + "\n"
	case len(r.Findings) > 0:
		text := ""
		for _, sentence := range []string{s.Covers(), s.LowerBound()} {
			if sentence != "" {
				text += wrap(sentence) + "\n\n"
			}
		}
		return text
	case len(r.Gaps) > 0:
		return "No hot keys in what could be read.\n"
	case s.AtLeast():
		return "No hot keys, if each request cost the least that it can.\n"
	}
	return "No hot keys.\n"
}

// samplesRead describes the read samples, and the unread ones.
func (r *Result) samplesRead() string {
	var b strings.Builder
	b.WriteString(r.Samples.CountedText() + "\n")
	for _, fault := range r.Samples.FaultSentences() {
		fmt.Fprintf(&b, "  %s\n", fault)
	}
	if least := r.Samples.LowerBoundText(); least != "" {
		b.WriteString(least + "\n")
	}
	if computed := r.Samples.ComputedText(); computed != "" && r.Samples.Judged {
		b.WriteString(wrap(computed) + "\n")
	}
	for _, sentence := range intake.OtherKeys(r.Tables, r.Findings) {
		b.WriteString(sentence + "\n")
	}
	if unrated := r.Samples.RateWarning(); unrated != "" && r.Samples.Judged && len(r.Findings) == 0 {
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
func (r *Result) incidents(on screen) string {
	p, roots := &page{}, rootsByIncident(r.Findings)
	shown, most := 0, min(maxIncidents, on.rows)
	for i := range r.Incidents {
		in := &r.Incidents[i]
		if in.Severity == detect.Info || shown == most {
			continue
		}
		shown++
		p.incident(in, roots[in.ID], on.colours)
	}
	if more := len(r.Incidents) - shown; more > 0 && shown == most {
		p.line("and %s more incidents", wording.Count(int64(more)))
	}
	if shown > 0 {
		p.line("  More of one: --explain KEY, or --explain TABLE for a table as a whole.")
	}
	return p.String()
}

// incident writes an incident's title, with what to do now and for good.
func (p *page) incident(in *detect.Incident, root *detect.Finding, colours bool) {
	brief := say.New(root)
	p.paragraph(2, "", severity(in.Severity, colours)+" "+brief.Title)
	for _, l := range brief.Lines() {
		if l.Name == say.LineNow || l.Name == say.LineThen {
			p.paragraph(4, "    ", l.Label()+" "+l.Text)
		}
	}
}

func (r *Result) findings(on screen) string {
	t := terminal.Table{Columns: []terminal.Column{
		{Name: "severity"}, {Name: "state", Spare: 2}, {Name: "kind", Spare: 1}, {Name: "key", Least: 20}, {Name: "table", Least: 12},
		{Name: "peak/s", Right: true}, {Name: "of limit", Right: true}, {Name: "seconds over", Right: true, Spare: 3},
		{Name: "shards", Right: true}, {Name: "peak at", Spare: 4},
	}}
	rows, alike, least, more := 0, 0, false, false
	for _, group := range detect.Roots(r.Findings) {
		shown := few(group)
		for i, f := range shown[:min(len(shown), on.rows-rows)] {
			of := ""
			if i > 0 {
				of = "└ " // what the first row of the incident explains
			}
			peak, ofLimit, at := peakCells(f)
			t.Add(severity(f.Severity, on.colours), string(f.State), string(f.Kind), of+text.Trim(subject(f), 48), r.target(f.Target),
				peak, ofLimit, wording.OverSeconds(f), shardsCell(f, group[0]), at)
			least, more = least || f.OnlyMean(), more || strings.HasPrefix(wording.OverSeconds(f), "≥")
			rows++
		}
		if hidden := len(group) - len(shown); hidden > 0 && rows < on.rows {
			t.Add("", "", "", fmt.Sprintf("└ and %s like these", wording.Count(int64(hidden))))
			alike += hidden
		}
	}
	shown := t.Render(on.width)
	if least {
		shown += "\n" + wrap("≥ of a peak: the highest second had at least so much, and these samples cannot tell which that was, nor how high. --explain KEY says what it had at most.")
	}
	if more {
		shown += "\n" + wrap("≥ of seconds over: so many are proven, and others may have been over, too.")
	}
	switch hidden := len(r.Findings) - rows - alike; {
	case hidden > 0:
		return shown + fmt.Sprintf("\nand %s more: --top shows more, -o csv, json or html has all", wording.Count(int64(hidden)))
	case alike > 0:
		return shown + "\n-o csv, json or html has all rows"
	}
	return shown
}

// few returns the findings of an incident without repetitions of many similar ones.
func few(group []*detect.Finding) (shown []*detect.Finding) {
	alike := map[detect.Kind]int{}
	for _, f := range group {
		if alike[f.Kind]++; alike[f.Kind] <= maxAlike {
			shown = append(shown, f)
		}
	}
	return shown
}

// provenOver returns the number of seconds in which a finding's load is proven to be over
// the limit, beside the number of possible ones; empty if unknown.
func provenOver(f *detect.Finding) string {
	if f.OverSeconds == nil {
		return ""
	}
	return strconv.Itoa(*f.OverSeconds)
}

// shardsCell returns the number of key shards that carry a finding's load; empty if none
// are advised, and for a finding about one of a key's shards.
func shardsCell(f, root *detect.Finding) string {
	if !f.AdvisesShards() || f != root && root.Sharding != nil {
		return ""
	}
	return strconv.Itoa(f.Shards)
}

// tables writes the load of each table and index, and its throttled requests, if any.
func (r *Result) tables(on screen) string {
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
	return t.Render(on.width)
}

func severity(s detect.Severity, colours bool) string {
	if !colours {
		return string(s)
	}
	return terminal.Severity(string(s))
}

// target writes a table, or an index of it as table/index, after the account and
// the Region where these are known.
func target(of detect.Target) string { return printable(of.Name()) }

// target writes a table or index in the columns of a result, which are narrow: without
// the account, or the Region, that all of its tables share.
func (r *Result) target(of detect.Target) string {
	account, region := false, false
	for i := range r.Tables {
		account = account || r.Tables[i].Account != r.Tables[0].Account
		region = region || r.Tables[i].Region != r.Tables[0].Region
	}
	if !account {
		of.Account = ""
	}
	if !region {
		of.Region = ""
	}
	return target(of)
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

// subject writes the key that a finding is about, or that it is about all of them.
func subject(f *detect.Finding) string {
	switch {
	case f.Key != "":
		return printable(f.Key)
	case f.Index != "":
		return "(whole index)"
	}
	return "(whole table)"
}

// peakCells returns the size of a finding's load, its share of the limit, and its time:
// none if samples do not carry it.
func peakCells(f *detect.Finding) (load, ofLimit, at string) {
	load, ofLimit = wording.Load(f)
	if f.OnlyMean() {
		return load, ofLimit, ""
	}
	return load, ofLimit, f.Peak.At.Format(time.RFC3339)
}

// printable returns text that does nothing to a terminal, or a dash for none.
func printable(s string) string { return cmp.Or(wording.Printable(s), "-") }
