package chart

import (
	"fmt"
	"time"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// Trend shows the highest second of each step of time beside the limit of a partition: a
// small picture with a bar for each cell. Coordinates are in pixels.
type Trend struct {
	Text  string
	Width int
	// Limit is the height of a partition's limit.
	Limit string
	// Bars are cells up to the limit, Over the cells above it, Unknown the cells that were
	// not counted: paths.
	Bars, Over, Unknown string
}

// TrendCell is the highest second of a step, as a share of the limit. Load reports that
// there was some, and Unknown that it was not counted.
type TrendCell struct {
	Share         float64
	Load, Unknown bool
}

// The geometry of a trend, in pixels; its SVG is in page/layout.html.
const (
	cellWidth, trendHeight = 2, 30.0
	// headroom is how much of the limit the picture shows at least.
	headroom = 1.25
)

// NewTrend draws the cells of a time, each so long. name is the time in words, and clock
// the layout of a time of day.
func NewTrend(name string, cells []TrendCell, from time.Time, length time.Duration, clock string) Trend {
	top, peak, unknown := headroom, 0, 0
	for i, c := range cells {
		if top = max(top, c.Share); c.Share > cells[peak].Share {
			peak = i
		}
		if c.Unknown {
			unknown++
		}
	}
	y := func(share float64) float64 { return trendHeight - share/top*trendHeight }
	var bars, over, missing path
	bar := func(p *path, column int, y float64) {
		fmt.Fprintf(p, "M%d %gV%s", cellWidth*column+cellWidth/2, trendHeight, number(y))
	}
	for i, c := range cells {
		switch {
		case c.Unknown:
			bar(&missing, i, 0)
		case c.Share > 1:
			bar(&over, i, y(c.Share))
		case c.Load:
			bar(&bars, i, min(trendHeight-1, y(c.Share)))
		}
	}
	t := Trend{Width: cellWidth * len(cells), Limit: number(y(1)), Bars: bars.String(), Over: over.String(), Unknown: missing.String()}
	t.Text = name + ": no load seen near the limit"
	if share := cells[peak].Share; share > 0 {
		// No figure: the row beside it has one, with its bounds and for its own time.
		over := "not over the limit"
		if share > 1 {
			over = "over the limit"
		}
		t.Text = fmt.Sprintf("%s: %s, highest in the %s from %s", name, over, wording.Span(length), from.Add(time.Duration(peak)*length).UTC().Format(clock))
	}
	switch {
	case unknown == len(cells):
		t.Text = name + ": not counted"
	case unknown > 0:
		t.Text += fmt.Sprintf("; %s not counted", wording.Span(time.Duration(unknown)*length))
	}
	return t
}
