package digest

import (
	"fmt"
	"strings"
	"time"
)

// md is a Markdown document that is written line by line.
type md struct{ strings.Builder }

func (m *md) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

func (m *md) heading(text string) { m.line("\n## %s\n", text) }

// table writes a table; nothing without rows.
func (m *md) table(header []string, rows [][]string) {
	m.line("| %s |", strings.Join(header, " | "))
	m.line("|%s", strings.Repeat(" --- |", len(header)))
	for _, row := range rows {
		m.line("| %s |", strings.Join(row, " | "))
	}
}

func (m *md) more(n int) {
	if n > 0 {
		m.line("\n%s more: see the report as JSON or CSV.", count(n))
	}
}

// inert escapes what Markdown, or HTML in it, would read as more than text within a
// line: what others wrote is neither markup, nor a link, nor a mention.
var inert = func() *strings.Replacer {
	pairs := []string{"\r", " ", "\n", " ", "://", `\://`, "www.", `www\.`, "WWW.", `WWW\.`}
	for _, c := range "\\`*_{}[]<>#|~&$@" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(pairs...)
}()

func text(s string) string { return inert.Replace(s) }

// code writes a key as a code span that its own backticks cannot end; a table's bar is
// escaped, since cells are told apart before spans.
func code(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	pad := ""
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") {
		pad = " "
	}
	return fence + pad + strings.ReplaceAll(s, "|", `\|`) + pad + fence
}

func (s subject) markdown() (key, table string) {
	if table = code(s.Table); s.Where != "" {
		table += " (" + text(s.Where) + ")"
	}
	return code(s.Key), table
}

// markdown returns the report as Markdown.
func (p *Report) markdown() []byte {
	v := p.page()
	m := &md{}
	m.line("# %s\n\n**%s**\n", text(v.Title), text(v.Summary))
	m.line("%s, %s. Made %s.", text(v.Period), text(v.About), text(v.Made))
	if !v.OfFiles {
		m.changes(&v)
	}
	m.hot(&v)
	m.rest(&v)
	m.notSeen(&v)
	m.heading("Not in this report")
	for _, s := range v.NotTold {
		m.line("- %s", text(s))
	}
	m.line("\nKeyheat, as of %s.", p.Made.UTC().Format(time.RFC3339))
	return []byte(m.String())
}

func (m *md) changes(v *page) {
	m.heading("Since the last report")
	switch {
	case v.Since == "":
		m.line("There is no earlier report to compare with.")
	case len(v.Changes) == 0:
		m.line("Nothing changed since the report up to %s.", text(v.Since))
	default:
		m.line("Compared with the report up to %s:\n", text(v.Since))
	}
	for _, c := range v.Changes {
		var all []string
		for _, s := range c.Refs.Rows {
			key, table := s.markdown()
			all = append(all, key+" of "+table)
		}
		if c.Refs.More > 0 {
			all = append(all, count(c.Refs.More)+" more")
		}
		m.line("- %s: %s", c.Name, strings.Join(all, ", "))
	}
}

func (m *md) hot(v *page) {
	m.heading("What got hot")
	if len(v.Hot.Rows) == 0 {
		m.line("Nothing fired in what was seen.")
		return
	}
	m.incidents(v.Hot)
	m.topics(v.Top)
}

func (m *md) topics(all []topic) {
	for i, t := range all {
		key, table := t.markdown()
		m.line("\n### %d. %s of %s\n", i+1, key, table)
		for _, s := range []struct{ name, text string }{{"Why", t.Why}, {"First fix", t.Fix}, {"What it rests on", t.Limits}, {"CloudWatch", t.CloudWatch}, {"Owner", t.Owner}} {
			if s.text != "" {
				m.line("- %s: %s", s.name, text(s.text))
			}
		}
	}
}

func (m *md) incidents(l list[incidentRow]) {
	var rows [][]string
	for _, i := range l.Rows {
		key, table := i.markdown()
		rows = append(rows, []string{string(i.Severity), string(i.State), text(i.Cause), key, table, i.Load, i.Times, i.Began, i.Until})
	}
	m.table([]string{"severity", "state", "cause", "key", "table", "of the limit", "times fired", "began", "until"}, rows)
	m.more(l.More)
}

func (m *md) rest(v *page) {
	if len(v.Warm.Rows) > 0 {
		m.heading("Open without firing")
		m.incidents(v.Warm)
		m.topics(v.WarmTop)
	}
	m.heading("What will get hot")
	if len(v.Coming.Rows) == 0 {
		m.line("No key is known to grow towards a limit. A forecast takes weeks of data.")
	} else {
		var rows [][]string
		for _, c := range v.Coming.Rows {
			key, table := c.markdown()
			rows = append(rows, []string{key, table, text(c.Now), text(c.Growth), text(c.At70), text(c.At100)})
		}
		m.table([]string{"key", "table", "weekly peak", "growth", "70% of the limit", "the limit"}, rows)
		m.more(v.Coming.More)
	}
	m.heading("What healed")
	if len(v.Healed.Rows) == 0 {
		m.line("Nothing that fired was over at the end.")
	} else {
		m.incidents(v.Healed)
	}
	if len(v.Keys) > 0 {
		m.heading("Highest keys")
		for _, k := range v.Keys {
			key, table := k.markdown()
			m.line("- %s of %s: %s", key, table, text(k.Peak))
		}
	}
}

func (m *md) notSeen(v *page) {
	m.heading("What could not be seen")
	if v.Stopped != "" {
		m.line("**%s**\n", text(v.Stopped))
	}
	m.line("%s", text(v.Wrote))
	for _, c := range v.Problems.Rows {
		m.line("- %s, last heard %s: %s", code(c.Who), text(c.Seen), text(c.What))
	}
	m.more(v.Problems.More)
	if len(v.Gaps.Rows) == 0 {
		m.line("\nNo gaps in the samples were noticed.")
	} else {
		m.line("")
		var rows [][]string
		for _, g := range v.Gaps.Rows {
			rows = append(rows, []string{code(g.Where), text(g.Since), text(g.Until), text(g.Noticed), text(g.Reason)})
		}
		m.table([]string{"gap in", "from", "to", "noticed", "why"}, rows)
		m.more(v.Gaps.More)
	}
	if len(v.Coverage.Rows) > 0 {
		m.line("")
		var rows [][]string
		for _, c := range v.Coverage.Rows {
			_, table := c.markdown()
			rows = append(rows, []string{table, text(c.Write), text(c.Read), text(c.Why)})
		}
		m.table([]string{"table", "writes seen", "reads seen", "why"}, rows)
		m.more(v.Coverage.More)
	}
}
