package chart

import (
	"fmt"
	"time"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// Trend shows the highest second of each step of time beside the limit of a partition: a
// small picture with a bar for each cell.
type Trend struct {
	Text    string
	Columns int
	Layers  []Layer
	// Limit is the height of a partition's limit, from the top.
	Limit string
	// Missing is how many cells were not counted.
	Missing int
}

// Width is the picture's width in pixels.
func (t Trend) Width() int { return 2 * t.Columns }

// TrendCell is the highest second of a step, as a share of the limit. Load reports that
// there was some, and Unknown that it was not counted.
type TrendCell struct {
	Share         float64
	Load, Unknown bool
}

const (
	// trendHeight is the height of the viewBox; the SVG is in page/layout.html.
	trendHeight = 30.0
	// headroom is how much of the limit the picture shows at least.
	headroom = 1.25
)

// NewTrend draws the cells of a time, each so long. name is the time in words.
func NewTrend(name string, cells []TrendCell, from time.Time, length time.Duration) Trend {
	top, peak := headroom, 0
	for i, c := range cells {
		if top = max(top, c.Share); c.Share > cells[peak].Share {
			peak = i
		}
	}
	y := func(share float64) float64 { return trendHeight * (1 - share/top) }
	t := Trend{Columns: len(cells), Limit: number(y(1))}
	var missing, bars, over path
	for i, c := range cells {
		switch high := min(trendHeight-1, y(c.Share)); {
		case c.Unknown:
			missing.addRect(i, 0, trendHeight)
			t.Missing++
		case c.Share > 1:
			over.addRect(i, high, trendHeight-high)
		case c.Load:
			bars.addRect(i, high, trendHeight-high)
		}
	}
	t.Layers = []Layer{{"unknown", missing.String(), ""}, {"bars", bars.String(), ""}, {"hot", over.String(), ""}}
	switch share := cells[peak].Share; {
	case t.Missing == len(cells):
		t.Text = name + ": not counted"
		return t
	case share == 0:
		t.Text = name + ": no load seen near the limit"
	default: // No figure: the row beside it has one, with its bounds and for its own time.
		clock, over := "15:04", "over the limit"
		if length < time.Minute {
			clock = time.TimeOnly
		} else if time.Duration(len(cells))*length > 24*time.Hour {
			clock = "2 Jan 15:04"
		}
		if share <= 1 {
			over = "not over the limit"
		}
		t.Text = fmt.Sprintf("%s: %s, highest in the %s from %s", name, over, wording.Span(length), from.Add(time.Duration(peak)*length).UTC().Format(clock))
	}
	if t.Missing > 0 {
		t.Text += fmt.Sprintf("; %s not counted", wording.Span(time.Duration(t.Missing)*length))
	}
	return t
}
