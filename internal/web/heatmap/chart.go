package heatmap

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/store"
)

// Chart is laid out for SVG; coordinates are in pixels.
type Chart struct {
	Title, Description, LimitText string
	Width, Height                 int
	Left, Right, Bottom, Limit    string
	Grid, Times                   []tick
	// Line is the requested load, Band the area between its bounds, Consumed the area of
	// the served part below it, Throttled the area of the rest, and Earlier the requested
	// load of the range that this one is compared with: paths.
	Line, Band, Consumed, Throttled, Earlier string
	Gaps                                     []Gap
	// Step is how many seconds a cell has.
	Step int64
	// Empty reports that no cell has any load.
	Empty bool
}

type tick struct{ X, Y, Text string }

// Gap is a time that was not counted.
type Gap struct{ X, Width string }

// The chart's geometry, in pixels.
const (
	width, height = 960, 300
	left, right   = 64, 940
	top, bottom   = 22, 264
	tickGap       = 160
	// halfTick is half of the width of a time on a phone.
	halfTick = 45
	// fewest is how many cells the width has at least: a short burst is not blown up.
	fewest = 20
)

// episode is how much of a finding's time a question is answered from: its end. around is
// the time before and after a finding that its chart shows.
const episode, around = 6 * time.Minute, 30 * time.Second

// EpisodeRange returns the finding's own time, with its onset.
func EpisodeRange(f *detect.Finding, now time.Time) Range {
	end := f.LastSeen.Add(around).Truncate(time.Second)
	if end.After(now) {
		end = now
	}
	r := Range{From: f.FirstSeen.Add(-around), To: end}
	if !r.From.Before(end) { // a clock is ahead
		r.From = end.Add(-episode)
	}
	if earliest := end.Add(-MaxSpan); r.From.Before(earliest) && !f.FirstSeen.IsZero() {
		r.From = earliest
	}
	return r
}

// LoadChart returns the chart of a finding's key; nil where nothing of the time is stored.
func LoadChart(ctx context.Context, st *store.Store, f *detect.Finding, r Range) (*Chart, error) {
	if r.From.Unix() < 0 {
		return nil, nil // the finding has no times
	}
	load := func(r Range) (*Map, error) {
		q := Query{Target: f.Target, Range: r, What: detect.SideOf(f, Write, Read)}
		return loadKey(ctx, st, q, f.PartitionKey())
	}
	m, err := load(r)
	if err != nil || r.Compare == 0 {
		return newChart(m, nil, r), err
	}
	earlier, err := load(r.Earlier())
	if err != nil {
		return nil, err
	}
	return newChart(m, earlier, r), nil
}

// newChart lays out the map of one key, and an earlier map of it if that is not nil. The
// chart is nil if the first map is, or none of it was counted.
func newChart(m, earlier *Map, r Range) *Chart {
	if m == nil {
		return nil
	}
	seen := false
	for _, n := range m.Seen {
		seen = seen || n > 0
	}
	if !seen && len(m.Rows) == 0 {
		return nil
	}
	cells := make(map[int]Cell)
	most, with, over := m.Limit, 0, 0
	if len(m.Rows) > 0 {
		for _, c := range m.Rows[0].Cells {
			cells[c.Column] = c
			most, with = max(most, c.High), with+1
			if c.Low > m.Limit {
				over++
			}
		}
	}
	if earlier != nil && len(earlier.Rows) > 0 {
		most = max(most, earlier.Rows[0].Hottest().Value)
	}
	step := niceStep(most / 4)
	most = math.Ceil(most*1.04/step) * step
	c := &Chart{
		Title: "Load of the key, " + m.Unit + " in each second",
		Description: fmt.Sprintf("%d cells with load from %s to %s UTC, %d of them certainly above the limit of %s",
			with, m.From.Format(time.DateTime), m.To.Format(time.DateTime), over, wording.About(m.Limit)),
		LimitText: "limit " + wording.About(m.Limit), Width: width, Height: height, Step: m.Step, Empty: with == 0,
		Left: fmt.Sprint(left), Right: fmt.Sprint(right), Bottom: fmt.Sprint(bottom),
	}
	if m.Step > 1 {
		c.Title = "Load of the key, " + m.Unit + " in the highest second of each cell of " + rollup.Level(m.Step).String()
	}
	l := layout{m: m, from: m.From, most: most, second: float64(right-left) / float64(int64(max(len(m.Seen), fewest))*m.Step)}
	c.Limit = pixel(l.y(m.Limit))
	for v := 0.0; v <= most; v += step {
		c.Grid = append(c.Grid, tick{Y: pixel(l.y(v)), Text: wording.About(v)})
	}
	c.Times = l.times()
	l.draw(c, cells)
	if earlier != nil && len(earlier.Rows) > 0 {
		before := layout{m: earlier, from: m.From.Add(-r.Compare), most: most, second: l.second}
		cells := make(map[int]Cell)
		for _, of := range earlier.Rows[0].Cells {
			cells[of.Column] = of
		}
		var drawn Chart
		before.draw(&drawn, cells)
		c.Earlier = drawn.Line
	}
	return c
}

// layout knows where things are. The left edge is at from, and a second has so many
// pixels.
type layout struct {
	m            *Map
	from         time.Time
	most, second float64
}

func (l *layout) cell() float64 { return l.second * float64(l.m.Step) }
func (l *layout) x(column int) float64 {
	return left + l.m.ColumnTime(column).Sub(l.from).Seconds()*l.second
}
func (l *layout) middle(c Cell) float64 { return l.x(c.Column) + l.cell()/2 }
func (l *layout) y(v float64) float64   { return bottom - v/l.most*(bottom-top) }

// draw adds the paths, and the gaps between them: a counted step without a cell had a
// negligible load.
func (l *layout) draw(c *Chart, cells map[int]Cell) {
	var run []Cell
	gap := -1
	flush := func(end int) {
		c.Line += l.line(run)
		c.Band += l.area(run, func(c Cell) float64 { return c.High }, func(c Cell) float64 { return c.Low })
		c.Consumed += l.area(run, servedPart, func(Cell) float64 { return 0 })
		c.Throttled += l.area(run, func(c Cell) float64 { return c.Value }, servedPart)
		run = run[:0]
		if gap >= 0 {
			c.Gaps = append(c.Gaps, Gap{pixel(l.x(gap)), pixel(l.x(end) - l.x(gap))})
			gap = -1
		}
	}
	for column, seen := range l.m.Seen {
		cell, any := cells[column]
		cell.Column = column
		if unknown := seen == 0 && !any; unknown != (gap >= 0) {
			flush(column)
			if unknown {
				gap = column
			}
		}
		if gap < 0 {
			run = append(run, cell)
		}
	}
	flush(len(l.m.Seen))
}

// servedPart is the consumed part of a cell's load.
func servedPart(c Cell) float64 { return c.Value * (1 - c.Refused/100) }

func (l *layout) line(run []Cell) string {
	var path strings.Builder
	command := 'M'
	for _, c := range run {
		fmt.Fprintf(&path, "%c%s %s", command, pixel(l.middle(c)), pixel(l.y(c.Value)))
		command = 'L'
	}
	if len(run) == 1 {
		path.WriteString("h0") // a dot
	}
	return path.String()
}

// area goes along the upper ends, and back along the lower ones; empty where they do
// not differ.
func (l *layout) area(run []Cell, upper, lower func(Cell) float64) string {
	differ := false
	for _, c := range run {
		differ = differ || l.y(lower(c))-l.y(upper(c)) >= 1
	}
	if !differ {
		return ""
	}
	var path strings.Builder
	command := 'M'
	add := func(c Cell, v float64) {
		fmt.Fprintf(&path, "%c%s %s", command, pixel(l.middle(c)), pixel(l.y(v)))
		command = 'L'
	}
	for _, c := range run {
		add(c, upper(c))
	}
	for _, c := range slices.Backward(run) {
		add(c, lower(c))
	}
	return path.String() + "Z"
}

var roundTimes = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour,
}

func (l *layout) times() (all []tick) {
	every := roundTimes[len(roundTimes)-1]
	for _, of := range roundTimes {
		if of.Seconds()*l.second >= tickGap {
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
	for at := l.from.Truncate(every); !at.After(l.m.To); at = at.Add(every) {
		text := at.UTC().Format(format)
		if every >= time.Minute && at.Equal(at.Truncate(24*time.Hour)) {
			text = at.UTC().Format("2 Jan")
		}
		if x := left + at.Sub(l.from).Seconds()*l.second; x >= left && x <= right-halfTick {
			all = append(all, tick{X: pixel(x), Text: text})
		}
	}
	return all
}

func pixel(v float64) string { return fmt.Sprintf("%.1f", v) }

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
