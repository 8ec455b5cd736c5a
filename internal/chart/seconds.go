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
	Picture
	Title, Description string
	Limit              Tick
	// Empty reports that no cell has any load.
	Empty bool
}

const (
	secondsHeight, top = 300, 12
	// fewest is how many cells the width has at least: a short burst is not blown up.
	fewest = 20
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
		Picture: Picture{From: m.From, Columns: max(len(m.Seen), fewest), Step: m.Step, Height: secondsHeight},
		Title:   "Load of the key, " + m.Unit + " in each second", Empty: with == 0,
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
		s.Rules = append(s.Rules, Tick{percent(y(v) / secondsHeight), wording.About(v)})
	}
	s.addTimes()
	s.draw(m, y)
	return s
}

// draw adds the layers, and the gaps between them. A counted step without a cell had a
// negligible load.
func (s *Seconds) draw(m *Map, y func(float64) float64) {
	cells, known := make([]Cell, len(m.Seen)), make([]bool, len(m.Seen))
	for n, seen := range m.Seen {
		known[n] = seen > 0
	}
	for _, row := range m.Rows {
		for _, c := range row.Cells {
			cells[c.Column], known[c.Column] = c, true
		}
	}
	s.Gaps = s.spans(len(cells), func(n int) bool { return !known[n] })
	var band, consumed, throttled path
	area := func(p *path, column int, high, low float64) {
		if height := y(low) - y(high); height >= 1 {
			p.addRect(column, y(high), height)
		}
	}
	for n, c := range cells {
		served := c.Value * (1 - c.Refused/100)
		area(&band, n, c.High, c.Low)
		area(&consumed, n, served, 0)
		area(&throttled, n, c.Value, served)
	}
	load := "consumed"
	if throttled.Len() == 0 {
		load = "requested"
	}
	line := steps(len(cells), func(n int) (float64, bool) { return y(cells[n].Value), known[n] })
	for _, l := range []Layer{
		{"consumed", consumed.String(), load}, {"throttled", throttled.String(), "throttled"},
		{"band", band.String(), "between the bounds of what was sampled"}, {"line", line, ""},
	} {
		if l.Path != "" {
			s.Layers = append(s.Layers, l)
		}
	}
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
