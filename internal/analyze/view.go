package analyze

import (
	"fmt"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/keyheat/keyheat/detect"
)

// The widths that keep a line within 120 characters.
const (
	tableWidth = 20
	keyWidth   = 18
	lineWidth  = 118
)

// views are the tables' keys, and what is said of them.
func (r *Result) views() string {
	t := newTable("table", "keys", "at once", "key like", "top key", "share", "carries/s", "design")
	var sentences []string
	for _, s := range r.Tables {
		if s.View == nil {
			continue
		}
		name := target(s.Table, s.Index)
		top, share := topKey(s.View)
		t.AppendRow(table.Row{short(name, tableWidth), keys(s.View), atOnce(s.View), like(s.View), top, share, carries(s.View), s.View.Design.Verdict})
		sentences = append(sentences, wrap(name+": "+s.View.Design.Why))
		if len(s.View.Top) > 1 {
			sentences = append(sentences, wrap("  most load: "+mostLoaded(s.View)))
		}
		for _, g := range s.View.Growing {
			sentences = append(sentences, wrap("  "+growthLine(g)))
		}
	}
	if len(sentences) == 0 {
		return ""
	}
	t.SetColumnConfigs(right("keys", "at once", "share", "carries/s"))
	return t.Render() + "\n\n" + strings.Join(sentences, "\n")
}

// candidates are the proposed keys below the present one of each table.
func (r *Result) candidates() string {
	t := newTable("table", "partition key", "keys", "at once", "hottest second", "key like", "carries/s", "design")
	add := func(name, key string, v *detect.View) {
		t.AppendRow(table.Row{short(name, tableWidth), short(printable(key), keyWidth), keys(v), atOnce(v), hottest(v), like(v), carries(v), v.Design.Verdict})
	}
	var sentences []string
	last := ""
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if c.Table != last {
			for j := range r.Tables {
				if p := &r.Tables[j]; p.Table == c.Table && p.Index == "" && p.View != nil {
					add(printable(c.Table), "(present)", p.View)
				}
			}
		}
		last = c.Table
		switch {
		case c.View == nil:
			sentences = append(sentences, wrap(fmt.Sprintf("%s by %s: no sample has every part of this key: see attrs in the samples' form.", printable(c.Table), printable(c.Candidate))))
			continue
		case c.Without > 0:
			sentences = append(sentences, wrap(fmt.Sprintf("%s by %s: %d samples lack a part of this key and are left out.", printable(c.Table), printable(c.Candidate), c.Without)))
		}
		add(printable(c.Table), c.Candidate, c.View)
		sentences = append(sentences, wrap(fmt.Sprintf("%s by %s: %s", printable(c.Table), printable(c.Candidate), c.View.Design.Why)))
	}
	t.SetColumnConfigs(right("keys", "at once", "hottest second", "carries/s"))
	return t.Render() + "\n\n" + strings.Join(sentences, "\n")
}

// keys is how many there are, with ~ where that is an estimate.
func keys(v *detect.View) string {
	n := number(v.DistinctKeys.Value)
	if v.DistinctKeys.Low == v.DistinctKeys.High {
		return n
	}
	return "~" + n
}

func atOnce(v *detect.View) string {
	if v.EffectiveKeys < 10 {
		return fmt.Sprintf("%.1f", v.EffectiveKeys)
	}
	return number(v.EffectiveKeys)
}

func like(v *detect.View) string {
	if v.Template.Pattern == "" {
		return "(mixed)"
	}
	return short(printable(v.Template.Pattern), keyWidth)
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
	return short(printable(top.Key), keyWidth), share
}

// most are the keys with the most load.
func mostLoaded(v *detect.View) string {
	var all []string
	for _, k := range v.Top {
		all = append(all, fmt.Sprintf("%s %.3g%%", short(printable(k.Key), 2*keyWidth), 100*k.Share.Low))
	}
	return strings.Join(all, ", ")
}

// carries is the ceiling that binds at the observed mix of reads and writes.
func carries(v *detect.View) string {
	switch c := v.Ceiling; {
	case c.WCU != nil && (c.RCU == nil || v.WriteShare >= 0.5):
		return number(*c.WCU) + " WCU"
	case c.RCU != nil:
		return number(*c.RCU) + " RCU"
	}
	return "-"
}

func hottest(v *detect.View) string {
	amount := number(v.Hottest.WCU) + " WCU"
	if v.Hottest.WCU/1000 < v.Hottest.RCU/3000 {
		amount = number(v.Hottest.RCU) + " RCU"
	}
	return amount
}

func growthLine(g detect.GrowingKey) string {
	unit := strings.ToUpper(g.Forecast.Unit)
	line := fmt.Sprintf("%s grows by %.3g %s a day (%.3g to %.3g)", printable(g.Key), g.Forecast.Growth.Value, unit, g.Forecast.Growth.Low, g.Forecast.Growth.High)
	if c := g.Forecast.At100; c != nil {
		line += fmt.Sprintf(" and reaches the limit on %s (%s to %s)", c.At.Format("2006-01-02"), c.Earliest.Format("2006-01-02"), c.Latest.Format("2006-01-02"))
	}
	return line + "."
}

// number has three significant digits and thousands apart.
func number(v float64) string {
	digits := math.Pow(10, max(0, math.Floor(math.Log10(max(1, v)))-2))
	n := fmt.Sprint(int64(math.Round(v/digits) * digits))
	for i := len(n) - 3; i > 0; i -= 3 {
		n = n[:i] + "," + n[i:]
	}
	return n
}

// short cuts text in the middle of which nothing tells.
func short(s string, width int) string {
	if text.StringWidthWithoutEscSequences(s) <= width {
		return s
	}
	return text.Trim(s, width-1) + "…"
}

// wrap breaks a sentence into lines.
func wrap(s string) string {
	var b strings.Builder
	for line := range strings.Lines(text.WrapSoft(s, lineWidth)) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
