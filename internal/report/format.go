package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// Format is how a report is written.
type Format string

// The formats.
const (
	HTML     Format = "html"
	Markdown Format = "markdown"
	JSON     Format = "json"
	CSV      Format = "csv"
)

// Formats lists every format.
func Formats() []Format { return []Format{HTML, Markdown, JSON, CSV} }

// FormatNames lists every format's name.
func FormatNames() []string { return wording.Names(Formats()) }

// Extension returns the ending of a file's name, with its dot.
func (f Format) Extension() string {
	if f == Markdown {
		return ".md"
	}
	return "." + string(f)
}

// MediaType returns the type that a server gives.
func (f Format) MediaType() string {
	switch f {
	case Markdown:
		return "text/markdown; charset=utf-8"
	case JSON:
		return "application/json; charset=utf-8"
	case CSV:
		return "text/csv; charset=utf-8"
	}
	return "text/html; charset=utf-8"
}

// Write writes the report.
func (p *Report) Write(out io.Writer, f Format) (err error) {
	var body []byte
	p = p.Render()
	switch f {
	case HTML:
		body, err = p.html()
	case Markdown:
		body, err = p.markdown()
	case JSON:
		body, err = p.json()
	case CSV:
		body, err = p.csv()
	default:
		return fmt.Errorf("format %q: give one of %s", f, strings.Join(FormatNames(), ", "))
	}
	if err != nil {
		return fmt.Errorf("write the report as %s: %w", f, err)
	}
	_, err = out.Write(body)
	return err
}

// Read reads the JSON form.
func Read(document []byte) (*Report, error) {
	var p Report
	if err := json.Unmarshal(document, &p); err != nil {
		return nil, fmt.Errorf("read a report: %w", err)
	}
	if p.Version > jsonVersion {
		return nil, fmt.Errorf("read a report: it has version %d and this program knows %d: use the program that made it", p.Version, jsonVersion)
	}
	return &p, nil
}

func (p *Report) json() ([]byte, error) {
	text, err := wording.JSON(p)
	return []byte(text), err
}

// csvColumns are the columns of the CSV form: a row is one thing, and section names its
// kind. Unknown cells are empty.
var csvColumns = []string{
	"section", "incident", "cause", "severity", "state", "account", "region", "table", "index", "key", "key_type", "unit",
	"utilization", "from", "to", "fired", "resolved", "value", "low", "high", "text", "first_fix", "owner",
}

// line is a row of the CSV form, by column.
type line map[string]string

func (p *Report) csv() ([]byte, error) {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write(csvColumns) // Error returns what went wrong with any
	for _, l := range p.lines() {
		row := make([]string, len(csvColumns))
		for i, name := range csvColumns {
			row[i] = l[name]
		}
		_ = w.Write(row)
	}
	w.Flush()
	return text.Bytes(), w.Error()
}

func (p *Report) lines() []line {
	all := []line{{"section": "report", "from": instant(&p.From), "to": instant(&p.To), "text": wording.Cell(p.Summary)}}
	for _, s := range []struct {
		name string
		all  []Incident
	}{{"hot", p.Hot}, {"warm", p.Warm}, {"healed", p.Healed}} {
		for i := range s.all {
			all = append(all, s.all[i].line(s.name))
		}
	}
	for _, s := range p.Silences {
		all = append(all, s.lines()...)
	}
	for i := range p.Partitions {
		all = append(all, partitionLines(&p.Partitions[i])...)
	}
	return append(all, p.notSeenLines()...)
}

// partitionLines are one for each partition of a table, and one for each split.
func partitionLines(v *partition.View) (all []line) {
	for i := range v.Partitions {
		c := &v.Partitions[i]
		l := lineOf("partition", detect.KeyRef{Target: v.Target})
		l["state"], l["text"], l["utilization"] = string(v.State), wording.Cell(say.PartitionName(v.State, &c.PartitionRange)), decimal(c.Utilization())
		all = append(all, l)
	}
	for i := range v.Splits {
		l := lineOf("split", detect.KeyRef{Target: v.Target})
		l["from"], l["text"] = instant(&v.Splits[i].At), wording.Cell(say.DescribeSplit(&v.Splits[i]))
		all = append(all, l)
	}
	return all
}

// lines are a silence's, and one for each incident that it silenced.
func (s *Silence) lines() []line {
	all := []line{{
		"section": "silence", "from": instant(&s.StartsAt), "to": instant(&s.EndsAt),
		"text": wording.Cell(strings.Join(s.Matchers, ", ") + ", by " + s.Author + ": " + s.Reason),
	}}
	for _, i := range s.Incidents {
		l := lineOf("silenced", i.KeyRef)
		l["incident"], l["severity"] = wording.Cell(i.Incident), string(i.Severity)
		l["from"], l["to"], l["text"] = instant(&s.StartsAt), instant(&s.EndsAt), wording.Cell("By "+s.Author+": "+s.Reason)
		all = append(all, l)
	}
	return all
}

func (i *Incident) line(section string) line {
	l := lineOf(section, i.KeyRef)
	l["incident"], l["cause"], l["severity"], l["state"] = wording.Cell(i.ID), wording.Cell(string(i.Cause)), string(i.Severity), string(i.State)
	l["from"], l["fired"], l["resolved"] = instant(&i.Began), instant(i.Fired), instant(i.Resolved)
	if l["unit"] = i.Unit; i.Utilization != nil {
		l["utilization"] = decimal(*i.Utilization)
	}
	l["text"], l["first_fix"], l["owner"] = wording.Cell(i.Why), wording.Cell(i.FirstFix), wording.Cell(i.Owner)
	return l
}

// lineOf returns a row about a key, or about a table or index as a whole.
func lineOf(section string, of detect.KeyRef) line {
	return line{
		"section": section, "account": wording.Cell(of.Account), "region": wording.Cell(of.Region),
		"table": wording.Cell(of.Table), "index": wording.Cell(of.Index), "key": wording.Cell(of.Key), "key_type": wording.Cell(of.KeyType),
	}
}

func (p *Report) notSeenLines() (all []line) {
	n := &p.NotSeen
	if n.Stopped != nil {
		all = append(all, line{"section": "stopped", "from": instant(n.Stopped), "text": say.NoneWroteSince})
	}
	for _, c := range n.Problems {
		all = append(all, line{"section": "collector", "from": instant(&c.Seen), "text": wording.Cell(c.Host + ": " + c.What)})
	}
	for _, g := range n.Gaps {
		all = append(all, line{"section": "gap", "from": instant(g.Since), "to": instant(g.Until),
			"text": wording.Cell(g.Source + "/" + g.Partition + ": " + g.Reason)})
	}
	for _, c := range n.Coverage {
		for _, d := range []struct {
			unit string
			*detect.Figure
		}{{"wcu", c.Write}, {"rcu", c.Read}} {
			l := lineOf("coverage", detect.KeyRef{Target: c.Target})
			l["unit"], l["text"] = d.unit, wording.Cell(c.Why)
			if d.Figure != nil {
				l["value"], l["low"], l["high"] = decimal(d.Value), decimal(d.Low), decimal(d.High)
			}
			all = append(all, l)
		}
	}
	for _, s := range append(append([]string{}, n.Cut...), p.NotTold...) {
		all = append(all, line{"section": "not_told", "text": wording.Cell(s)})
	}
	return all
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func instant(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
