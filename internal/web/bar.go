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

func newBar(f *detect.Finding) *bar {
	if f.Kind.OfTable() {
		return nil
	}
	limit, load, unit := detect.Units(detect.PartitionWrite), f.Peak.WCU, "WCU"
	if f.InReads() {
		limit, load, unit = detect.Units(detect.PartitionRead), f.Peak.RCU, "RCU"
	}
	of, value := "Peak", load.Value
	switch {
	case f.Sharding != nil && !f.Kind.OfKey(): // its peak is that of all shards together
		of, value = "Peak of the fullest shard", f.Utilization*limit
		load = detect.Figure{Value: value, Low: value, High: value}
	case f.OnlyMean():
		of, value = "Peak at least", load.Low
	}
	pixels := func(v float64) float64 { return min(barWidth, v/limit*barLimit) }
	return &bar{
		Label: fmt.Sprintf("%s %s %s per second, between %s and %s; the limit is %s",
			of, wording.About(value), unit, wording.AtLeast(load.Low), wording.AtMost(load.High), wording.About(limit)),
		Class: string(f.Severity),
		Value: pixel(pixels(value)), Low: pixel(pixels(load.Low)), High: pixel(pixels(load.High)),
		Limit:   pixel(barLimit),
		Whisker: pixels(load.High)-pixels(load.Low) >= 1,
		Beyond:  value/limit*barLimit > barWidth,
	}
}

func pixel(v float64) string { return fmt.Sprintf("%.1f", v) }
