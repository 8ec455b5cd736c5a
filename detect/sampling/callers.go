package sampling

import (
	"math"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Whole is the uncertainty of an amount of one unit if sampling drew whole callers
// instead of requests. It is zero if records state which requests sampling drew together, or
// name no callers. A caller with the share s adds the variance s²(1−p), however many
// requests it makes and however steadily, so an amount from few callers is never proven.
type Whole struct {
	// Deviation is the standard deviation, Largest the most that one more caller would
	// add.
	Deviation, Largest float64
}

// SpreadOf returns the uncertainty of an amount.
func (w Whole) SpreadOf(amount sample.Milli) sketch.Spread {
	units := detect.Units(amount)
	return sketch.Spread{Variance: w.Deviation * w.Deviation * units * units, Largest: w.Largest * units}
}

// proven returns the lower bound of an amount that holds with probability 1 − 10⁻⁶.
// variance is the amount's variance if requests were drawn independently.
func (w Whole) proven(amount sample.Milli, variance float64) sample.Milli {
	e := Estimate{Units: detect.Units(amount)}
	e.Spread.Variance = max(variance, w.SpreadOf(amount).Variance)
	return detect.Milli(e.lowerBound(detect.DecideTail))
}

// WholeCallers returns the uncertainty of a key's load. It counts the callers in the
// key's evidence, or the table's callers if the key has none.
func WholeCallers(w *sketch.Window, k *sketch.KeyLoad) Whole {
	if e := k.Evidence; e != nil {
		return wholeCallers(k.Draws, e.Callers, e.Load)
	}
	return wholeCallers(k.Draws, w.Callers, w.Total.Load)
}

// WholeCallersOf returns the uncertainty of the load of a whole table or index.
func WholeCallersOf(w *sketch.Window) Whole {
	if w.Total.ReadLargest == 0 && w.Total.WriteLargest == 0 || len(w.Callers.Entries) == 0 {
		return Whole{} // nothing was sampled, or no caller is named
	}
	var all sketch.Draws
	for i := range w.Keys {
		all = all.Plus(w.Keys[i].Draws)
	}
	return wholeCallers(all, w.Callers, w.Total.Load)
}

func wholeCallers(d sketch.Draws, callers sketch.Top, total sketch.Load) (w Whole) {
	all := float64(detect.Weight(total))
	if d.Assumed == 0 || d.RateLow <= 0 || d.RateLow >= 1 || all == 0 {
		return w
	}
	squares := 0.0
	for _, caller := range callers.Entries {
		share := min(1, float64(caller.Weight)/all)
		squares += share * share
		w.Largest = max(w.Largest, share)
	}
	w.Deviation = math.Sqrt(squares * (1 - d.RateLow))
	return w
}
