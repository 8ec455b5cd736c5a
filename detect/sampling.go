package detect

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// estimate is an amount of some seconds that is known from samples: the sum of
// what each stands for, in units, and what that leaves open.
type estimate struct {
	units  float64
	spread sketch.Spread
}

// below is the amount's lower bound that the truth is under with the given
// probability. It is the gamma interval of Fay and Feuer ("Confidence intervals
// for directly standardized rates", 1997) for a weighted sum of Poisson counts,
// which keeps its promise where counts are few and weights differ: the normal
// interval does not. Where all requests were seen it is the amount itself.
func (e estimate) below(probability float64) float64 {
	v := e.spread.Variance
	if v <= 0 || e.units <= 0 {
		return e.units
	}
	return quantile(e.units, v, probability)
}

// above is the upper bound that the truth is over with the given probability.
func (e estimate) above(probability float64) float64 {
	w := e.spread.Largest
	if w <= 0 {
		return e.units
	}
	return quantile(e.units+w, e.spread.Variance+w*w, 1-probability)
}

// Provable is the smallest load of one second that samples can prove to be above
// a limit, in units: where one sampled request stands for `each` units, with the
// probability that decides. Zero where all requests are seen.
func Provable(limit sample.Milli, each float64) float64 {
	if each <= 0 {
		return 0
	}
	low, high := units(limit), units(limit)+each
	proves := func(load float64) bool {
		return estimate{load, sketch.Spread{Variance: load * each, Largest: each}}.below(decideTail) > units(limit)
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

// quantile is that of the gamma distribution with this mean and variance.
func quantile(mean, variance, probability float64) float64 {
	shape := mean * mean / variance
	if shape > 1e8 { // as good as exact, and the inverse's own error is larger
		return mean
	}
	return variance / mean * mathext.GammaIncRegInv(shape, probability)
}

// amounts are what a second says of a key's reads or writes, in thousandths.
type amounts struct {
	value, missing sample.Milli
	spread         sketch.Spread
	// low holds with 97.5 %, proven with 1 − 10⁻⁶.
	low, proven sample.Milli
}

// amountsOf is what the sketch knows of an amount, with what sampling leaves
// open of it.
func amountsOf(value, missing sample.Milli, s sketch.Spread) amounts {
	e := estimate{units(value), s}
	return amounts{
		value: value, missing: missing, spread: s,
		low: milli(e.below(showTail)), proven: milli(e.below(decideTail)),
	}
}

// provenOf is what a key was asked for, with 1 − 10⁻⁶ where requests were sampled.
func provenOf(k *sketch.KeyLoad) sketch.Load {
	return sketch.Load{
		Read:  milli(estimate{units(k.Low.Read), k.ReadSpread}.below(decideTail)),
		Write: milli(estimate{units(k.Low.Write), k.WriteSpread}.below(decideTail)),
	}
}

// high holds with 97.5 %. largest is what one more sampled request of the table
// would have added: it may have been of this key, also where none was seen.
func (a amounts) high(largest float64) sample.Milli {
	e := estimate{units(a.value), a.spread}
	e.spread.Largest = max(e.spread.Largest, largest)
	return milliUp(e.above(showTail)) + a.missing
}

func milliUp(u float64) sample.Milli { return sample.Milli(math.Ceil(u*1000 - 1e-6)) }

// means are the last seconds of a sampled key, over which sampling evens out.
type means struct {
	seconds [meanLongest]meanSecond
}

type meanSecond struct {
	at              int64
	units, variance float64
}

// add notes a second. A second without samples counts as nothing.
func (m *means) add(at int64, e estimate) {
	m.seconds[at%meanLongest] = meanSecond{at, e.units, e.spread.Variance}
}

// proven is the largest mean of the last seconds that is proven, in thousandths
// of a unit a second; zero when none reaches least units.
func (m *means) proven(at int64, least float64) (most sample.Milli) {
	for _, length := range [...]int64{meanShort, meanLongest} {
		var sum estimate
		for i := range m.seconds {
			if s := &m.seconds[i]; s.at > at-length && s.at <= at {
				sum.units += s.units
				sum.spread.Variance += s.variance
			}
		}
		if sum.units >= least*float64(length) {
			most = max(most, milli(sum.below(decideTail)/float64(length)))
		}
	}
	return most
}

// wilson is an end, -1 or 1, of E. B. Wilson's 95 % interval (1927) for a share
// that was seen in n draws.
func wilson(share float64, n int64, end float64) float64 {
	if n == 0 {
		return max(0, end)
	}
	const z = 1.96
	share = min(share, 1)
	size := float64(n)
	middle := share + z*z/(2*size)
	half := z * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	return min(1, max(0, (middle+end*half)/(1+z*z/size)))
}

// mayHave is the most that a key can have been asked for, as far as sampling and
// the sketch leave it open.
func mayHave(w *sketch.Window, k *sketch.KeyLoad) sketch.Load {
	return sketch.Load{
		Read:  amountsOf(k.Low.Read, k.Err.Read, k.ReadSpread).high(w.Total.ReadLargest),
		Write: amountsOf(k.Low.Write, k.Err.Write, k.WriteSpread).high(w.Total.WriteLargest),
	}
}

// provenTotal is what a table was asked for with 1 − 10⁻⁶: of n requests of w
// units each, at a rate of p, the variance of what they stand for is below their
// sum times the largest w/p.
func provenTotal(asked sample.Milli, largest float64) sample.Milli {
	return milli(estimate{units(asked), sketch.Spread{Variance: units(asked) * largest, Largest: largest}}.below(decideTail))
}
