package analyze

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// The widths that keep a line within 120 characters.
const (
	tableWidth = 20
	keyWidth   = 18
	lineWidth  = 118
)

// views writes what the keys of the tables look like.
func (r *Result) views() string {
	t := newTable("table", "keys", "effective", "key like", "top key", "share", "ceiling/s", "design")
	var sentences []string
	for _, s := range r.Tables {
		if s.View == nil {
			continue
		}
		name := r.target(s.Target)
		top, share := topKey(s.View)
		t.AppendRow(table.Row{short(name, tableWidth), keys(s.View), effective(s.View), like(s.View), top, share, ceiling(s.View), s.View.Design.Verdict})
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
	t.SetColumnConfigs(right("keys", "effective", "share", "ceiling/s"))
	return t.Render() + "\n\n" + strings.Join(sentences, "\n")
}

// candidates writes the proposed keys below the present one of each table.
func (r *Result) candidates() string {
	t := newTable("table", "partition key", "keys", "effective", "hottest second", "key like", "ceiling/s", "design")
	add := func(name, key string, v *detect.View) {
		t.AppendRow(table.Row{short(name, tableWidth), short(printable(key), keyWidth), keys(v), effective(v), hottest(v), like(v), ceiling(v), v.Design.Verdict})
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
			sentences = append(sentences, wrap(fmt.Sprintf("%s by %s: %d samples lack a part of this key and are not counted.", r.target(c.Target), printable(c.Candidate), c.Without)))
		}
		add(r.target(c.Target), c.Candidate, c.View)
		sentences = append(sentences, wrap(fmt.Sprintf("%s by %s: %s", r.target(c.Target), printable(c.Candidate), c.View.Design.Why)))
	}
	t.SetColumnConfigs(right("keys", "effective", "hottest second", "ceiling/s"))
	return t.Render() + "\n\n" + strings.Join(sentences, "\n")
}

// keys writes how many there are, with ~ where that is an estimate.
func keys(v *detect.View) string {
	n := wording.Significant(v.DistinctKeys.Value)
	if v.DistinctKeys.Low == v.DistinctKeys.High {
		return n
	}
	return "~" + n
}

func effective(v *detect.View) string {
	switch n := v.EffectiveKeys; {
	case n == nil:
		return "-"
	case *n < 10:
		return fmt.Sprintf("%.1f", *n)
	default:
		return wording.Significant(*n)
	}
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

// mostLoaded writes the keys with the most load.
func mostLoaded(v *detect.View) string {
	var all []string
	for _, k := range v.Top {
		all = append(all, fmt.Sprintf("%s %.3g%%", short(printable(k.Key), 2*keyWidth), 100*k.Share.Low))
	}
	return strings.Join(all, ", ")
}

// ceiling writes the ceiling that binds at the observed mix of reads and writes.
func ceiling(v *detect.View) string {
	switch c := v.Ceiling; {
	case c.WCU != nil && (c.RCU == nil || v.WriteShare >= 0.5):
		return wording.Significant(*c.WCU) + " WCU"
	case c.RCU != nil:
		return wording.Significant(*c.RCU) + " RCU"
	}
	return "-"
}

// hottest writes the highest second of any key, in the unit nearer to its limit.
func hottest(v *detect.View) string {
	if v.Hottest.WCU/detect.Units(detect.PartitionWrite) < v.Hottest.RCU/detect.Units(detect.PartitionRead) {
		return wording.Significant(v.Hottest.RCU) + " RCU"
	}
	return wording.Significant(v.Hottest.WCU) + " WCU"
}

func growthLine(g detect.GrowingKey) string {
	unit := strings.ToUpper(g.Forecast.Unit)
	line := fmt.Sprintf("%s grows by %.3g %s a day (%.3g to %.3g)", printable(g.Key), g.Forecast.Growth.Value, unit, g.Forecast.Growth.Low, g.Forecast.Growth.High)
	if c := g.Forecast.At100; c != nil {
		line += fmt.Sprintf(" and reaches the limit on %s (%s to %s)", c.At.Format("2006-01-02"), c.Earliest.Format("2006-01-02"), c.Latest.Format("2006-01-02"))
	}
	return line + "."
}

// short cuts text that is too wide for its column.
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
