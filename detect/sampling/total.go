package sampling

import (
	"math"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// meanSum is a sum over some seconds.
type meanSum struct {
	meanSecond
	squares float64
	seconds float64 // seconds that could have shown the key
}

func (s *meanSum) add(o *meanSecond) {
	s.units += o.units
	s.variance += o.variance
	s.whole += o.whole
	s.squares += o.units * o.units
	s.assumed = s.assumed || o.assumed
}

// robustVariance returns the variance of the sum. If records do not state how requests
// were drawn, it is at least the variance between the seconds. Records that were folded
// and drawn again vary more than independent draws.
func (s *meanSum) robustVariance() float64 {
	if !s.assumed {
		return s.variance
	}
	v := max(s.variance, s.whole*s.whole)
	if s.seconds > 1 {
		v = max(v, (s.squares-s.units*s.units/s.seconds)*s.seconds/(s.seconds-1))
	}
	return v
}

// Total is a key's load over some seconds. It is less uncertain than the single seconds,
// because draws of different seconds are independent, unless sampling drew whole callers:
// they are the same in each second.
type Total struct {
	value, missing sample.Milli
	sum            meanSum
	// largest is the most that one more draw would have added in a second, callers the
	// most that one more caller would have added in all seconds.
	largest, callers float64
}

// Add adds a second. s is its estimate if requests were drawn independently.
func (t *Total) Add(a Amounts, s Second) {
	t.count(a, s, 1)
	t.largest, t.sum.assumed = max(t.largest, s.Spread.Largest), t.sum.assumed || s.Assumed
}

// Remove takes back a second that was added. The largest draws stay, because another draw
// may be as large.
func (t *Total) Remove(a Amounts, s Second) { t.count(a, s, -1) }

// count adds a second some times.
func (t *Total) count(a Amounts, s Second, times float64) {
	t.value, t.missing = t.value+sample.Milli(times)*a.Value, t.missing+sample.Milli(times)*a.Missing
	t.sum.units += times * s.Units
	t.sum.variance += times * s.Spread.Variance
	t.sum.whole += times * math.Sqrt(s.Whole)
	t.sum.squares += times * s.Units * s.Units
	t.sum.seconds += times
	if s.Whole > 0 {
		t.callers += times * a.Spread.Largest
	}
}

// Pass adds seconds without a sample of the sampled key.
func (t *Total) Pass(seconds int64) { t.sum.seconds += float64(seconds) }

// Seconds returns the number of seconds, with the passed ones.
func (t *Total) Seconds() int64 { return int64(t.sum.seconds) }

// Value returns the sum in thousandths of a unit.
func (t *Total) Value() sample.Milli { return t.value }

// Mean returns the mean load a second, with its 95% interval. largest is the most that
// one more sampled request of the table would have added.
func (t *Total) Mean(largest float64) detect.Figure {
	i := Interval{Value: t.value, Low: t.value, High: t.value + t.missing}
	v := t.sum.robustVariance()
	if w := max(t.largest, t.callers, largest); v > 0 || w > 0 {
		e := Estimate{Units: detect.Units(t.value)}
		e.Spread.Variance, e.Spread.Largest = v, w
		i.Low, i.High = min(t.value, detect.Milli(e.lowerBound(detect.ShowTail))), max(t.value, milliUp(e.upperBound(detect.ShowTail)))+t.missing
	}
	return i.PerSecond(t.Seconds())
}
