// Package chart draws every picture of the pages, as values for the templates in
// internal/web/page: the heatmap of a table ([Map]), the load of one key ([Seconds]), the
// small pictures of lists ([Trend]), a table's key space ([Ring]) and loads beside the limit
// ([Bar]).
//
// A picture over time is an SVG as wide as the page gives it. Times, gaps and texts have
// places in percent, so that nothing is stretched. Cells and lines are layers: paths in an SVG
// within, whose viewBox is as wide as the picture has cells. The package reads no store and
// knows no address.
package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Picture is a picture over time.
type Picture struct {
	// From is the left edge. The width has Columns cells of Step seconds, and Height is that
	// of the viewBox.
	From            time.Time
	Columns, Height int
	Step            int64
	Times           []Tick
	// Gaps were not counted, and Partly in part.
	Gaps, Partly []Span
	// Rules are lines across the picture, with a text where they are an axis.
	Rules []Tick
	// Layers are drawn one over the other.
	Layers []Layer
}

// Tick is a mark of an axis with its text, at a part of its length in percent.
type Tick struct{ At, Text string }

// Span is a part of the width, in percent.
type Span struct{ X, Width string }

// Layer is a path with its class in the style sheet. Text is its meaning in the legend, and
// empty where the legend leaves it out.
type Layer struct{ Class, Path, Text string }

// percent writes a part of a picture's width or height.
func percent(part float64) string { return number(100*part) + "%" }

func number(v float64) string { return fmt.Sprint(math.Round(100*v) / 100) }

// spans returns the runs of columns that match.
func (p *Picture) spans(columns int, matches func(column int) bool) (all []Span) {
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
func (p *Picture) addTimes() {
	whole := time.Duration(int64(p.Columns)*p.Step) * time.Second
	n := slices.IndexFunc(roundTimes, func(d time.Duration) bool { return d*mostTimes >= whole })
	every := roundTimes[max(n, 0)]
	if n < 0 {
		every = roundTimes[len(roundTimes)-1]
	}
	format := "15:04"
	if every < time.Minute {
		format = time.TimeOnly
	}
	for at := p.From.Truncate(every); at.Before(p.From.Add(whole)); at = at.Add(every) {
		text := at.UTC().Format(format)
		if at.Equal(at.Truncate(24 * time.Hour)) {
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
func (p *path) addRect(column int, y, height float64) {
	fmt.Fprintf(p, "M%d %sh1v%sh-1z", column, number(y), number(height))
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

// shares are the upper ends of the colours, as shares of the limit. Values up to the first
// one have no colour, and values above the last one have one more. The style sheet has the
// colours themselves, --heat-1 to --heat-6.
var shares = []float64{0.1, 0.25, 0.5, 0.8, 1, 2}

// overLimit is the first colour above the limit.
const overLimit = 5

// colour returns the number of a load's colour; 0 for none.
func colour(share float64) int {
	n, _ := slices.BinarySearch(shares, share)
	return n
}

func class(colour int) string { return "heat-" + strconv.Itoa(colour) }

// Bar is a load beside the limit, which stands in the middle of its width.
type Bar struct {
	Name, Text, Width string
	Over              bool
}

// NewBar returns the bar of a load, which is a share of the limit.
func NewBar(name, text string, share float64) Bar {
	return Bar{Name: name, Text: text, Width: percent(min(1, share/2)), Over: share > 1}
}
