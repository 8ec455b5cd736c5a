package web

import (
	"fmt"
	"math"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// chart is a key's seconds against the limit, laid out for page/finding.html.
type chart struct {
	Title, Description, LimitText string
	Width, Height                 int
	Left, Right, Bottom, Limit    string
	Grid, Times                   []tick
	Bars                          []second
}

type tick struct{ X, Y, Text string }

type second struct {
	X, Y, Width, Height, Middle, Top string
	Over, Complete, Whisker          bool
}

// The chart's geometry, in pixels.
const (
	chartWidth, chartHeight    = 960, 300
	chartLeft, chartRight      = 64, 836
	chartTop, chartBottom      = 22, 264
	chartSeconds, chartTickGap = 20, 110
)

// point is what is known of a key in one second, in units.
type point struct {
	at        time.Time
	low, high float64
	complete  bool
}

// newChart lays out a key's seconds; nil when there are none.
func newChart(f *detect.Finding, all []point) *chart {
	if len(all) == 0 {
		return nil
	}
	most := limit(f.Kind)
	top := most
	over := 0
	for _, p := range all {
		top = max(top, p.high)
		if p.low > most {
			over++
		}
	}
	step := niceStep(top / 4)
	top = math.Ceil(top*1.04/step) * step
	y := func(v float64) float64 { return chartBottom - v/top*(chartBottom-chartTop) }
	first, last := all[0].at, all[len(all)-1].at
	// A short burst is not blown up to the whole width.
	width := float64(chartRight-chartLeft) / max(last.Sub(first).Seconds()+1, chartSeconds)
	x := func(t time.Time) float64 { return chartLeft + t.Sub(first).Seconds()*width }
	c := &chart{
		Title: fmt.Sprintf("Load of the key in each second, in %s", unit(f.Kind)),
		Description: fmt.Sprintf("%d seconds from %s to %s UTC, %d of them certainly above the limit of %s",
			len(all), first.Format(time.TimeOnly), last.Format(time.TimeOnly), over, wording.About(most)),
		LimitText: "limit " + wording.About(most),
		Width:     chartWidth, Height: chartHeight,
		Left: fmt.Sprint(chartLeft), Right: fmt.Sprint(chartRight), Bottom: fmt.Sprint(chartBottom), Limit: pixel(y(most)),
	}
	for v := 0.0; v <= top; v += step {
		c.Grid = append(c.Grid, tick{Y: pixel(y(v)), Text: wording.About(v)})
	}
	for _, p := range all {
		left := x(p.at)
		c.Bars = append(c.Bars, second{
			X: pixel(left), Width: pixel(max(width-min(1, width/4), 0.6)), Middle: pixel(left + width/2),
			Y: pixel(y(p.low)), Height: pixel(chartBottom - y(p.low)), Top: pixel(y(p.high)),
			Over: p.low > most, Complete: p.complete, Whisker: y(p.low)-y(p.high) >= 1,
		})
	}
	seconds := max(1, math.Ceil(chartTickGap/width))
	for at := first; !at.After(last); at = at.Add(time.Duration(seconds) * time.Second) {
		c.Times = append(c.Times, tick{X: pixel(x(at) + width/2), Text: at.UTC().Format(time.TimeOnly)})
	}
	return c
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
