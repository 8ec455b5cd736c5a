package chart

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/rollup"
)

// Seconds is the load of one key over time, with its bounds, beside the limit.
type Seconds struct {
	Plot
	Title, Description string
	// Limit and Grid are heights.
	Limit Tick
	Grid  []Tick
	// Line is the requested load, Band the area between its bounds, Consumed the area of
	// the served part below it, and Throttled the area of the rest: paths.
	Line, Band, Consumed, Throttled string
	// Stretch is the width of a cell, for the hatching within.
	Stretch string
	// Empty reports that no cell has any load.
	Empty bool
}

// The geometry. The height is in units of the viewBox, in page/finding.html too.
const (
	secondsHeight, top = 300, 12
	// fewest is how many cells the width has at least: a short burst is not blown up.
	fewest = 20
	// screen is about how wide the picture is on a screen.
	screen = 1000
)

// NewSeconds draws the map of one key. It returns nil if the map is nil, or none of it was
// counted.
func NewSeconds(m *Map) *Seconds {
	if m == nil || len(m.Rows) == 0 && slices.Max(m.Seen) == 0 {
		return nil
	}
	most, with, over := m.Limit, 0, 0
	for _, row := range m.Rows {
		for _, c := range row.Cells {
			if most, with = max(most, c.High), with+1; c.Low > m.Limit {
				over++
			}
		}
	}
	step := niceStep(most / 4)
	s := &Seconds{
		Plot:  Plot{From: m.From, Columns: max(len(m.Seen), fewest), Step: m.Step},
		Title: "Load of the key, " + m.Unit + " in each second", Empty: with == 0,
		Description: fmt.Sprintf("%d cells with load from %s to %s UTC, %d of them certainly above the limit of %s",
			with, m.From.Format(time.DateTime), m.To.Format(time.DateTime), over, wording.About(m.Limit)),
	}
	if m.Step > 1 {
		s.Title = "Load of the key, " + m.Unit + " in the highest second of each cell of " + rollup.Level(m.Step).String()
	}
	highest := math.Ceil(most*1.04/step) * step
	y := func(v float64) float64 { return secondsHeight - v/highest*(secondsHeight-top) }
	s.Limit = Tick{percent(y(m.Limit) / secondsHeight), "limit " + wording.About(m.Limit)}
	for v := 0.0; v <= highest; v += step {
		s.Grid = append(s.Grid, Tick{percent(y(v) / secondsHeight), wording.About(v)})
	}
	s.Stretch = number(float64(s.Columns) / screen)
	s.addTimes()
	s.draw(m, y)
	return s
}

// draw adds the paths, and the gaps between them.
func (s *Seconds) draw(m *Map, y func(float64) float64) {
	cells, known := cellsOf(m)
	s.Gaps = s.spans(len(cells), func(n int) bool { return !known[n] })
	s.Line = steps(len(cells), func(n int) (float64, bool) { return y(cells[n].Value), known[n] })
	var band, consumed, throttled path
	area := func(p *path, column int, high, low float64) {
		if height := y(low) - y(high); height >= 1 {
			p.addRect(float64(column), y(high), height)
		}
	}
	for n, c := range cells {
		served := c.Value * (1 - c.Refused/100)
		area(&band, n, c.High, c.Low)
		area(&consumed, n, served, 0)
		area(&throttled, n, c.Value, served)
	}
	s.Band, s.Consumed, s.Throttled = band.String(), consumed.String(), throttled.String()
}

// cellsOf returns the cells of a key's map, one for each column, and of which the load is
// known: a counted step without a cell had a negligible load.
func cellsOf(m *Map) (cells []Cell, known []bool) {
	cells, known = make([]Cell, len(m.Seen)), make([]bool, len(m.Seen))
	for n, seen := range m.Seen {
		known[n] = seen > 0
	}
	for _, row := range m.Rows {
		for _, c := range row.Cells {
			cells[c.Column], known[c.Column] = c, true
		}
	}
	return cells, known
}

// niceStep is the next of 1, 2, 5, 10, 20 and so on.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if v <= m*power {
			return m * power
		}
	}
	return 10 * power
}
