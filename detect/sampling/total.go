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
	seconds float64 // those that could have been seen
}

func (s *meanSum) add(o *meanSecond) {
	s.units += o.units
	s.variance += o.variance
	s.whole += o.whole
	s.squares += o.units * o.units
	s.assumed = s.assumed || o.assumed
}

// robust returns the variance of the sum. Where nothing says how requests were drawn
// it is at least that which the seconds themselves show: records that were folded and
// drawn again differ more from second to second than independent draws do.
func (s *meanSum) robust() float64 {
	if !s.assumed {
		return s.variance
	}
	v := max(s.variance, s.whole*s.whole)
	if s.seconds > 1 {
		v = max(v, (s.squares-s.units*s.units/s.seconds)*s.seconds/(s.seconds-1))
	}
	return v
}

// Total is a key's load in some seconds together. Sampling leaves less open of it than
// of the seconds one by one: draws of different seconds are independent, unless whole
// callers were drawn, which are the same in each.
type Total struct {
	value, missing sample.Milli
	sum            meanSum
	// largest is the most that one more draw would have added in a second, callers what
	// one more caller would have added in all.
	largest, callers float64
}

// Add adds a second. a is what is known of it, s what that would be if requests were
// drawn independently.
func (t *Total) Add(a Amounts, s Second) {
	t.value, t.missing = t.value+a.Value, t.missing+a.Missing
	t.sum.add(&meanSecond{units: s.Units, variance: s.Spread.Variance, whole: math.Sqrt(s.Whole), assumed: s.Assumed})
	t.sum.seconds++
	t.largest = max(t.largest, s.Spread.Largest)
	if s.Whole > 0 {
		t.callers += a.Spread.Largest
	}
}

// Remove takes back a second that was added. The largest draws stay: what another one
// would have added may be as much.
func (t *Total) Remove(a Amounts, s Second) {
	t.value, t.missing = t.value-a.Value, t.missing-a.Missing
	t.sum.units -= s.Units
	t.sum.variance -= s.Spread.Variance
	t.sum.whole -= math.Sqrt(s.Whole)
	t.sum.squares -= s.Units * s.Units
	t.sum.seconds--
	if s.Whole > 0 {
		t.callers -= a.Spread.Largest
	}
}

// Pass adds seconds in which a sampled key may have been, and no sample shows it.
func (t *Total) Pass(seconds int64) { t.sum.seconds += float64(seconds) }

// Seconds returns how many seconds were added.
func (t *Total) Seconds() int64 { return int64(t.sum.seconds) }

// Value returns the sum.
func (t *Total) Value() sample.Milli { return t.value }

// Mean returns the mean of the seconds, with its interval of 95%. largest is what one
// more sampled request of the table would have added.
func (t *Total) Mean(largest float64) detect.Figure {
	i := Interval{Value: t.value, Low: t.value, High: t.value + t.missing}
	v := t.sum.robust()
	if w := max(t.largest, t.callers, largest); v > 0 || w > 0 {
		e := Estimate{Units: detect.Units(t.value)}
		e.Spread.Variance, e.Spread.Largest = v, w
		i.Low, i.High = min(t.value, detect.Milli(e.lowerBound(detect.ShowTail))), max(t.value, milliUp(e.upperBound(detect.ShowTail)))+t.missing
	}
	return i.PerSecond(t.Seconds())
}

// ContinueTotal returns the total of which another judge wrote the mean of so many seconds.
// What sampling leaves open follows from the interval. Of which draws that came is not
// known any more, so that it is taken for what whole callers leave open, too, where
// those are not excluded.
func ContinueTotal(mean detect.Figure, seconds int64, sampled, assumed bool) (t Total) {
	n := float64(seconds)
	t.value, t.sum.seconds, t.sum.units = detect.Milli(mean.Value*n), n, mean.Value*n
	if !sampled {
		t.missing = detect.Milli(mean.High*n) - t.value
		return t
	}
	deviation := (mean.High - mean.Low) * n / (2 * showDeviations)
	t.sum.variance, t.sum.whole, t.sum.assumed = deviation*deviation, deviation, assumed
	if seconds > 0 {
		t.sum.squares = (deviation*deviation*(n-1) + t.sum.units*t.sum.units) / n
	}
	return t
}

// showDeviations is how many standard deviations each end of an interval of 95% is from
// the middle.
const showDeviations = 1.96
