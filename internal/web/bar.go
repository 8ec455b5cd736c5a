package web

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// The geometry of a bar, in pixels; its SVG is in page/findings.html. The limit
// stands at the same place in every row, so that rows can be compared at a
// glance.
const (
	barWidth = 220.0
	barLimit = 88.0 // so the bar ends at two and a half times the limit
)

// bar is a load against the limit, with its bounds as a whisker.
type bar struct {
	Label, Class            string
	Value, Low, High, Limit string // pixels
	Whisker, Beyond         bool
}

func newBar(f *detect.Finding) bar {
	most, load := limit(f.Kind), figure(f.Kind, f.Peak.Loads)
	pixels := func(v float64) float64 { return min(barWidth, v/most*barLimit) }
	b := bar{
		Label: fmt.Sprintf("Peak %s %s per second, between %s and %s; the limit is %s",
			wording.About(load.Value), unit(f.Kind), wording.About(load.Low), wording.About(load.High), wording.About(most)),
		Class: string(f.Severity),
		Value: pixel(pixels(load.Value)), Low: pixel(pixels(load.Low)), High: pixel(pixels(load.High)),
		Limit:   pixel(barLimit),
		Whisker: pixels(load.High)-pixels(load.Low) >= 1,
		Beyond:  load.Value/most*barLimit > barWidth,
	}
	return b
}

func pixel(v float64) string { return fmt.Sprintf("%.1f", v) }
