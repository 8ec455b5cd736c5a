package sampling

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// Interval is an amount with its bounds, in thousandths of a unit.
type Interval struct{ Value, Low, High sample.Milli }

// Max returns the larger value of each field.
func (f Interval) Max(o Interval) Interval {
	return Interval{max(f.Value, o.Value), max(f.Low, o.Low), max(f.High, o.High)}
}

// PerSecond returns the mean over some seconds, in units a second.
func (f Interval) PerSecond(seconds int64) detect.Figure {
	n := float64(max(seconds, 1))
	return detect.Figure{Value: detect.Units(f.Value) / n, Low: detect.Units(f.Low) / n, High: detect.Units(f.High) / n}
}
