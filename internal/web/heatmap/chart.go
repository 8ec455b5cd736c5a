package heatmap

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Chart is laid out for SVG; coordinates are in pixels.
type Chart struct {
	Title, Description, LimitText string
	Width, Height                 int
	Left, Right, Bottom, Limit    string
	Grid, Times                   []tick
	// Line is the load, Band the area between its bounds, Over the cells that are proven
	// over the limit, Refused the cells with throttled requests: paths.
	Line, Band, Over, Refused string
	// Gaps are the times that nobody counted.
	Gaps []Gap
	// Step is how many seconds a cell has.
	Step int64
	// Empty reports that no cell has any load.
	Empty bool
}

// tick is a label of an axis.
type tick struct{ X, Y, Text string }

// Gap is a time that was not counted.
type Gap struct{ X, Width string }

// The chart's geometry, in pixels.
const (
	width, height = 960, 300
	left, right   = 64, 836
	top, bottom   = 22, 264
	tickGap       = 110
	// fewest is how many cells the width has at least: a short burst is not blown up.
	fewest = 20
)

// ChartRange is the time of a chart, and the links to others.
type ChartRange struct {
	From, To time.Time
	Choices  []choice
}

// episode is how much of a finding's time its chart shows when nothing is asked for: the
// end of it, with a little around.
const episode, around = 6 * time.Minute, 30 * time.Second

// ranges are the lengths that a page offers.
var ranges = []struct {
	word, span string
}{{"1 h", "1h"}, {"6 h", "6h"}, {"2 days", "48h"}, {"14 days", "336h"}}

// ParseChartRange reads the time of a finding's chart from an address: a span up to the end of
// the finding, from and to, or neither for the finding's own time. path is where the
// finding's page is.
func ParseChartRange(values url.Values, path string, f *detect.Finding, now time.Time) (ChartRange, error) {
	end := f.LastSeen.Add(around).Truncate(time.Second)
	if end.After(now) {
		end = now
	}
	r := ChartRange{From: f.FirstSeen.Add(-around), To: end}
	if earliest := end.Add(-episode); r.From.Before(earliest) || !r.From.Before(end) { // or of a clock that is ahead
		r.From = earliest
	}
	asked := values.Get("span") != "" || values.Get("from") != ""
	if asked {
		given := url.Values{"table": {f.Table}, "to": {end.Format(time.RFC3339)}}
		if f.Table == "" {
			given.Set("table", "-")
		}
		for _, name := range []string{"span", "from", "to"} {
			if v := values.Get(name); v != "" {
				given.Set(name, v)
			}
		}
		q, _, err := ParseQuery(given, now)
		if err != nil {
			return r, err
		}
		r.From, r.To = q.From, q.To
	}
	r.Choices = []choice{{Word: "This episode", Link: path, Chosen: !asked}}
	for _, of := range ranges {
		r.Choices = append(r.Choices, choice{Word: of.word, Link: path + "?span=" + of.span, Chosen: values.Get("span") == of.span && values.Get("from") == ""})
	}
	return r, nil
}

// LoadChart returns the chart of a finding's key; nil where nothing of the time is stored.
func LoadChart(ctx context.Context, st *store.Store, f *detect.Finding, r ChartRange) (*Chart, error) {
	if r.From.Unix() < 0 {
		return nil, nil // the finding has no times
	}
	m, err := loadKey(ctx, st, Query{
		Target: f.Target, From: r.From, To: r.To, What: detect.Side(f.Kind, Write, Read),
	}, sample.Key{Type: f.KeyType, Text: f.Key})
	if err != nil {
		return nil, err
	}
	return newChart(m), nil
}

// newChart lays out the map of one key; nil when none of it was counted.
func newChart(m *Map) *Chart {
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
	step := niceStep(most / 4)
	most = math.Ceil(most*1.04/step) * step
	c := &Chart{
		Title: "Load of the key in " + m.Unit + " a second, the highest second of each cell",
		Description: fmt.Sprintf("%d cells with load from %s to %s UTC, %d of them certainly above the limit of %s",
			with, m.From.Format(time.DateTime), m.To.Format(time.DateTime), over, wording.About(m.Limit)),
		LimitText: "limit " + wording.About(m.Limit), Width: width, Height: height, Step: m.Step, Empty: with == 0,
		Left: fmt.Sprint(left), Right: fmt.Sprint(right), Bottom: fmt.Sprint(bottom),
	}
	l := layout{m: m, cell: float64(right-left) / float64(max(len(m.Seen), fewest)), most: most}
	c.Limit = pixel(l.y(m.Limit))
	for v := 0.0; v <= most; v += step {
		c.Grid = append(c.Grid, tick{Y: pixel(l.y(v)), Text: wording.About(v)})
	}
	c.Times = l.times()
	l.draw(c, cells)
	return c
}

// layout knows where things are.
type layout struct {
	m          *Map
	cell, most float64
}

func (l *layout) x(column int) float64 { return left + float64(column)*l.cell }
func (l *layout) y(v float64) float64  { return bottom - v/l.most*(bottom-top) }

// draw adds the paths, and the gaps between them: a counted step without a cell had a
// negligible load.
func (l *layout) draw(c *Chart, cells map[int]Cell) {
	var line, over, refused strings.Builder
	var run []Cell
	gap := -1
	flush := func(end int) {
		for i, cell := range run {
			fmt.Fprintf(&line, "%c%s %s", "ML"[min(i, 1)], pixel(l.x(cell.Column)+l.cell/2), pixel(l.y(cell.Value)))
		}
		if len(run) == 1 {
			line.WriteString("h0") // a dot
		}
		c.Band += l.band(run)
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
		if gap >= 0 {
			continue
		}
		run = append(run, cell)
		if cell.Low > l.m.Limit {
			fmt.Fprintf(&over, "M%s %sh%s", pixel(l.x(column)), pixel(l.y(cell.Value)), pixel(max(l.cell, 1)))
		}
		if cell.Refused > 0 {
			fmt.Fprintf(&refused, "M%s %dh%s", pixel(l.x(column)), bottom-3, pixel(max(l.cell, 1)))
		}
	}
	flush(len(l.m.Seen))
	c.Line, c.Over, c.Refused = line.String(), over.String(), refused.String()
}

// band goes along the upper bounds, and back along the lower ones.
func (l *layout) band(run []Cell) string {
	differ := false
	for _, c := range run {
		differ = differ || l.y(c.Low)-l.y(c.High) >= 1
	}
	if !differ {
		return ""
	}
	var path strings.Builder
	for i, c := range run {
		fmt.Fprintf(&path, "%c%s %s", "ML"[min(i, 1)], pixel(l.x(c.Column)+l.cell/2), pixel(l.y(c.High)))
	}
	for i := len(run) - 1; i >= 0; i-- {
		fmt.Fprintf(&path, "L%s %s", pixel(l.x(run[i].Column)+l.cell/2), pixel(l.y(run[i].Low)))
	}
	return path.String() + "Z"
}

func (l *layout) times() (all []tick) {
	every := max(1, int(math.Ceil(tickGap/l.cell)))
	format := time.TimeOnly
	if l.m.Step >= 600 {
		format = "01-02 15:04"
	}
	for column := 0; column < len(l.m.Seen); column += every {
		all = append(all, tick{X: pixel(l.x(column) + l.cell/2), Text: l.m.ColumnTime(column).UTC().Format(format)})
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
