package sampling

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Estimate is an amount over some seconds that samples stand for, in units, with its
// uncertainty.
type Estimate struct {
	Units  float64
	Spread sketch.Spread
}

// lowerBound returns a bound that the truth is under with the given probability. It is
// the gamma interval of Fay and Feuer ("Confidence intervals for directly standardized
// rates", 1997) for a weighted sum of Poisson counts. Unlike the normal interval, it
// covers the truth if counts are few and weights differ. If all requests were seen, it is
// the amount itself.
func (e Estimate) lowerBound(probability float64) float64 {
	v := e.Spread.Variance
	if v <= 0 || e.Units <= 0 {
		return e.Units
	}
	return quantile(e.Units, v, probability)
}

// upperBound returns a bound that the truth is over with the given probability.
func (e Estimate) upperBound(probability float64) float64 {
	w := e.Spread.Largest
	if w <= 0 {
		return e.Units
	}
	return quantile(e.Units+w, e.Spread.Variance+w*w, 1-probability)
}

// Provable returns the smallest load of one second, in units, that samples can prove to
// be above a limit, if one sampled request stands for each units. It is zero if all
// requests are seen.
func Provable(limit sample.Milli, each float64) float64 {
	if each <= 0 {
		return 0
	}
	low, high := detect.Units(limit), detect.Units(limit)+each
	proves := func(load float64) bool {
		return Estimate{load, sketch.Spread{Variance: load * each, Largest: each}}.lowerBound(detect.DecideTail) > detect.Units(limit)
	}
	for !proves(high) {
		high *= 2
	}
	for high-low > 1 {
		if middle := (low + high) / 2; proves(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return math.Ceil(high)
}

// quantile returns a quantile of the gamma distribution with this mean and variance. Half
// of the cost of judging a sampled key is here: Halley's method needs three values of the
// distribution from a good start, and mathext's inverse needs dozens.
func quantile(mean, variance, probability float64) float64 {
	shape := mean * mean / variance
	if shape < 10 { // the start would be far off
		return variance / mean * mathext.GammaIncRegInv(shape, probability)
	}
	// The cube root is nearly normal: Wilson and Hilferty, "The distribution of
	// chi-square" (1931).
	part := 1 / (9 * shape)
	start := math.Pow(1-part+math.Sqrt(2*part)*math.Erfinv(2*probability-1), 3)
	if shape > 1e6 { // the start is closer than mathext's distribution, which sums 2,000 terms
		return mean * start
	}
	x := shape * start
	logGamma, _ := math.Lgamma(shape)
	for range 10 {
		density := math.Exp((shape-1)*math.Log(x) - x - logGamma)
		step := (mathext.GammaIncReg(shape, x) - probability) / density
		step /= 1 - min(1, step*((shape-1)/x-1))/2
		x -= step
		if math.Abs(step) < 1e-5*math.Sqrt(shape) { // the error is the third power of this
			break
		}
	}
	return variance / mean * x
}

// Amounts are a key's reads or writes in a second with their bounds, in thousandths of a
// unit.
type Amounts struct {
	// Missing is the most that the sketch may have left out.
	Value, Missing sample.Milli
	Spread         sketch.Spread
	// Low holds with probability 97.5%, Proven with 1 − 10⁻⁶.
	Low, Proven sample.Milli
}

// NewAmounts returns the bounds of an amount. The sketch may have left out missing, and s
// is the uncertainty of sampling.
func NewAmounts(value, missing sample.Milli, s sketch.Spread) Amounts {
	e := Estimate{detect.Units(value), s}
	return Amounts{
		Value: value, Missing: missing, Spread: s,
		Low: detect.Milli(e.lowerBound(detect.ShowTail)), Proven: detect.Milli(e.lowerBound(detect.DecideTail)),
	}
}

// Proven returns the proven load of a key. If requests were sampled, it holds with
// probability 1 − 10⁻⁶, even if sampling drew whole callers.
func Proven(w *sketch.Window, k *sketch.KeyLoad) sketch.Load {
	whole := WholeCallers(w, k)
	return sketch.Load{Read: whole.proven(k.Low.Read, k.ReadSpread.Variance), Write: whole.proven(k.Low.Write, k.WriteSpread.Variance)}
}

// Widen returns the amount with an uncertainty of at least s.
func (a Amounts) Widen(s sketch.Spread) Amounts {
	s.Variance, s.Largest = max(s.Variance, a.Spread.Variance), max(s.Largest, a.Spread.Largest)
	return NewAmounts(a.Value, a.Missing, s)
}

// Plus returns the sum of two amounts that were sampled separately.
func (a Amounts) Plus(o Amounts) Amounts {
	return NewAmounts(a.Value+o.Value, a.Missing+o.Missing, a.Spread.Plus(o.Spread))
}

// Reduce returns the amount without a known part of it.
func (a Amounts) Reduce(part sample.Milli) Amounts {
	return NewAmounts(a.Value-part, a.Missing, a.Spread)
}

// RemainingPart returns the share of a load that remains if a part of it counts as its
// mean over the given seconds.
func RemainingPart(part, seconds float64) float64 { return 1 - part + part/seconds }

// SpreadOver returns the amount with a part of it counted as its mean over the given
// seconds. An infinite number leaves the part out.
func (a Amounts) SpreadOver(part, seconds float64) Amounts {
	rest := RemainingPart(part, seconds)
	s := sketch.Spread{Variance: a.Spread.Variance * (1 - part + part/(seconds*seconds)), Largest: a.Spread.Largest * rest}
	return NewAmounts(detect.ShareOf(a.Value, rest), detect.ShareOf(a.Missing, rest), s)
}

// High returns the upper bound that holds with probability 97.5%. largest is the most
// that one more sampled request of the table would have added: it may have been for this
// key, even if none was seen.
func (a Amounts) High(largest float64) sample.Milli {
	e := Estimate{detect.Units(a.Value), a.Spread}
	e.Spread.Largest = max(e.Spread.Largest, largest)
	return milliUp(e.upperBound(detect.ShowTail)) + a.Missing
}

// Interval returns the amount between bounds that each hold but for the given probability.
func (a Amounts) Interval(tail float64) Interval {
	e := Estimate{detect.Units(a.Value), a.Spread}
	return Interval{a.Value, detect.Milli(e.lowerBound(tail)), milliUp(e.upperBound(tail)) + a.Missing}
}

func milliUp(u float64) sample.Milli { return sample.Milli(math.Ceil(u*1000 - 1e-6)) }

// Wilson returns an end, -1 or 1, of E. B. Wilson's 95% interval (1927) for a share that
// was seen in n draws.
func Wilson(share float64, n int64, end float64) float64 {
	if n == 0 {
		return max(0, end)
	}
	const z = 1.96 // standard deviations from the middle to an end
	share = min(share, 1)
	size := float64(n)
	middle := share + z*z/(2*size)
	half := z * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	return min(1, max(0, (middle+end*half)/(1+z*z/size)))
}

// MostLoad returns the highest load of a key that sampling and the sketch leave possible.
func MostLoad(w *sketch.Window, k *sketch.KeyLoad) sketch.Load {
	return sketch.Load{
		Read:  NewAmounts(k.Low.Read, k.Err.Read, k.ReadSpread).High(w.Total.ReadLargest),
		Write: NewAmounts(k.Low.Write, k.Err.Write, k.WriteSpread).High(w.Total.WriteLargest),
	}
}

// ProvenTotal returns the proven part of a table's load in a second, with probability 1 −
// 10⁻⁶. The variance of n requests of w units each, sampled at rate p, is below their sum
// times the largest w/p. The bound holds even if sampling drew whole callers.
func ProvenTotal(w *sketch.Window, l sketch.Load) sketch.Load {
	whole := WholeCallersOf(w)
	return sketch.Load{
		Read:  whole.proven(l.Read, detect.Units(l.Read)*w.Total.ReadLargest),
		Write: whole.proven(l.Write, detect.Units(l.Write)*w.Total.WriteLargest),
	}
}

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
