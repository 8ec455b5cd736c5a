// Package chart draws every picture of the pages, as values for the templates in
// internal/web/page: the heatmap of a table ([Map]), the load of one key ([Seconds]), the
// small pictures of lists ([Trend]), a table's key space ([Ring]) and loads beside the limit
// ([Bar]).
//
// A picture is an SVG as wide as the page gives it. Times, gaps and texts have places in
// percent of the width, so that nothing is stretched. Cells and lines are paths in an SVG
// within, whose viewBox is as wide as the picture has cells. The package reads no store and
// knows no address.
package chart

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Plot is the frame of a picture over time.
type Plot struct {
	// From is the left edge. The width has Columns cells of Step seconds.
	From    time.Time
	Columns int
	Step    int64
	Times   []Tick
	Gaps    []Span
}

// Tick is a mark of an axis with its text, at a part of its length in percent.
type Tick struct{ At, Text string }

// Span is a part of the width, in percent.
type Span struct{ X, Width string }

// percent writes a part of a picture's width or height.
func percent(part float64) string { return number(100*part) + "%" }

func number(v float64) string { return fmt.Sprint(math.Round(100*v) / 100) }

// spans returns the runs of columns that match.
func (p *Plot) spans(columns int, matches func(column int) bool) (all []Span) {
	begin := -1
	for n := range columns + 1 {
		switch is := n < columns && matches(n); {
		case is && begin < 0:
			begin = n
		case !is && begin >= 0:
			all = append(all, Span{percent(float64(begin) / float64(p.Columns)), percent(float64(n-begin) / float64(p.Columns))})
			begin = -1
		}
	}
	return all
}

var roundTimes = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 96 * time.Hour,
}

// mostTimes is how many times the width of a screen has room for. edge is the part of the
// width at both ends in which a text would be cut off.
const mostTimes, edge = 6, 0.04

// addTimes marks round times.
func (p *Plot) addTimes() {
	whole := time.Duration(int64(p.Columns)*p.Step) * time.Second
	every := roundTimes[len(roundTimes)-1]
	for _, of := range roundTimes {
		if of*mostTimes >= whole {
			every = of
			break
		}
	}
	format := "15:04"
	switch {
	case every < time.Minute:
		format = time.TimeOnly
	case every >= 24*time.Hour:
		format = "2 Jan"
	}
	for at := p.From.Truncate(every); at.Before(p.From.Add(whole)); at = at.Add(every) {
		text := at.UTC().Format(format)
		if every >= time.Minute && at.Equal(at.Truncate(24*time.Hour)) {
			text = at.UTC().Format("2 Jan")
		}
		if x := at.Sub(p.From).Seconds() / whole.Seconds(); x >= edge && x <= 1-edge {
			p.Times = append(p.Times, Tick{percent(x), text})
		}
	}
}

// path is the text of an SVG path.
type path struct{ strings.Builder }

// addRect adds a rectangle in a column.
func (p *path) addRect(column, y, height float64) {
	fmt.Fprintf(p, "M%s %sh1v%sh-1z", number(column), number(y), number(height))
}

// steps draws a line from column to column, as high as each is known to be.
func steps(columns int, at func(column int) (y float64, known bool)) string {
	var p path
	drawn := false
	for n := range columns {
		y, known := at(n)
		switch {
		case known && drawn:
			fmt.Fprintf(&p, "V%sh1", number(y))
		case known:
			fmt.Fprintf(&p, "M%d %sh1", n, number(y))
		}
		drawn = known
	}
	return p.String()
}
