package detect

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Interval is the interval that is shown for an amount, and its proven part, in
// a table of which one more sampled request would add `largest` units.
func Interval(value sample.Milli, s sketch.Spread, largest float64) (proven, low, high sample.Milli) {
	a := amountsOf(value, 0, s)
	return a.proven, a.low, a.high(largest)
}
