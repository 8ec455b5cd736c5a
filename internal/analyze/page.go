package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
)

const pageWidth = terminal.Width

// page collects paragraphs.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// paragraph wraps sentences behind an indent; the first line begins with mark.
func (p *page) paragraph(indent int, mark, sentences string) {
	for i, line := range strings.Split(terminal.Wrap(sentences, pageWidth-indent), "\n") {
		lead := strings.Repeat(" ", indent)
		if i == 0 {
			lead = fmt.Sprintf("%*s", indent, mark)
		}
		p.line("%s%s", lead, line)
	}
}

func (p *page) heading(title string) { p.line("\n%s", title) }

func (p *page) fact(name, format string, args ...any) {
	p.paragraph(14, fmt.Sprintf("  %-12s", name), fmt.Sprintf(format, args...))
}

func (p *page) facts(all []say.Line) {
	for _, l := range all {
		p.fact(l.Name, "%s", l.Text)
	}
}

// rule separates two explanations.
func (p *page) rule() { p.line("\n%s", strings.Repeat("─", pageWidth)) }

// The chart of a key's seconds.
const (
	chartWidth  = 66
	chartHeight = 6
)

var eighths = []rune(" ▁▂▃▄▅▆▇█")

func draw(p *page, loads []float64, highest, limit float64) {
	p.line("")
	// A load a little above the limit has a row above it.
	scale := highest
	if highest > limit {
		scale = max(highest, limit*chartHeight/(chartHeight-1))
	}
	line := min(chartHeight, int(math.Ceil(limit/scale*chartHeight))) - 1
	for row := chartHeight - 1; row >= 0; row-- {
		label, axis := "", ' '
		switch row {
		case line:
			label = wording.About(limit)
		case chartHeight - 1:
			label = wording.About(highest)
		}
		if row == line {
			axis = '┄'
		}
		var b strings.Builder
		for _, load := range loads {
			level := int(math.Ceil(load/scale*chartHeight*8)) - 8*row
			mark := eighths[min(8, max(0, level))]
			if mark == ' ' && row == line {
				mark = '┄'
			}
			b.WriteRune(mark)
		}
		p.line("  %7s%s", label, strings.TrimRight(string(axis)+b.String(), " "))
	}
}

// guides lists the sections that steps name, each once.
func (p *page) guides(steps []detect.Step) {
	var all []string
	for _, s := range steps {
		if name := "#" + s.Guide; s.Guide != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if len(all) > 0 {
		p.paragraph(2, "  ", "Guide: docs/KEY_DESIGN.md, "+strings.Join(all, ", ")+".")
	}
}
