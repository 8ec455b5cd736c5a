package sampling

import (
	"math"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// Means are the last seconds of a sampled key, over which sampling evens out.
type Means struct {
	first   int64
	seconds [detect.MeanLongest]meanSecond
}

type meanSecond struct {
	at              int64
	units, variance float64
	// whole is the standard deviation if whole callers were drawn: it does not even
	// out. assumed tells that requests are taken for independent.
	whole   float64
	assumed bool
}

// Second is what is known of a second of a sampled key.
type Second struct {
	Estimate
	// Whole is the variance if whole callers were drawn, zero where that is excluded.
	Whole float64
	// Assumed reports that nothing says which requests were drawn together.
	Assumed bool
}

// Add records a second. A second without samples counts as nothing.
func (m *Means) Add(at int64, s Second) {
	if m.first == 0 || at < m.first {
		m.first = at
	}
	m.seconds[at%detect.MeanLongest] = meanSecond{at, s.Units, s.Spread.Variance, math.Sqrt(s.Whole), s.Assumed}
}

// Proven returns the largest mean of the last seconds that is proven, in thousandths
// of a unit a second; zero when none reaches least units. believed is what would be
// proven if requests that do not say how they were drawn were drawn independently:
// where the two differ in a verdict, it cannot be proven from such samples.
func (m *Means) Proven(at int64, least float64) (most, believed sample.Milli) {
	for _, length := range [...]int64{detect.MeanShort, detect.MeanLongest} {
		sum := m.sum(at, length)
		if sum.units < least*float64(length) {
			continue
		}
		mean := func(variance float64) sample.Milli {
			e := Estimate{Units: sum.units}
			e.Spread.Variance = variance
			return detect.Milli(e.lowerBound(detect.DecideTail) / float64(length))
		}
		independent := mean(sum.variance)
		believed = max(believed, independent)
		if v := sum.robust(); v > sum.variance {
			independent = mean(v)
		}
		most = max(most, independent)
	}
	return most, believed
}

func (m *Means) sum(at, length int64) (sum meanSum) {
	for i := range m.seconds {
		if s := &m.seconds[i]; s.at > at-length && s.at <= at {
			sum.add(s)
		}
	}
	sum.seconds = float64(min(length, at-m.first+1))
	return sum
}

// Peak is the load that a key kept up at its highest, as noisy seconds tell it: the
// largest of the means over 1 to 60 seconds, each less z of its standard deviations.
// The maximum of the seconds themselves grows with how long one looks. How large z
// is depends on how many seconds there are in the end, so Peak keeps one maximum for
// each step of z.
type Peak [peakSteps]float64

const (
	peakSteps = 24
	peakStep  = 0.25
)

// peakMeans are the lengths of the means, and which part of z each is lowered by: chance
// adds less to the highest mean of a length of which there are fewer.
var peakMeans = func() (all [6]struct {
	length int64
	part   float64
}) {
	for i, length := range [...]int64{1, 2, 5, detect.MeanShort, 30, detect.MeanLongest} {
		all[i].length, all[i].part = length, highestOf(3600/float64(length))/highestOf(3600)
	}
	return all
}()

// highestOf returns by about how many standard deviations chance puts the highest of n
// values above their mean.
func highestOf(n float64) float64 { return math.Sqrt(2 * math.Log(max(n, 2))) }

// Raise raises the peak by the means that end with a second.
func (p *Peak) Raise(m *Means, at int64) {
	for _, of := range peakMeans {
		sum := m.sum(at, of.length)
		mean, deviation := sum.units/float64(of.length), math.Sqrt(sum.variance)/float64(of.length)
		for i := range p {
			p[i] = max(p[i], mean-peakStep*float64(i)*of.part*deviation)
		}
	}
}

// PeakLoad is what noisy seconds tell of the highest one.
type PeakLoad struct {
	// Value is the peak as it likely is, Low the least that it likely is, and Sure what is
	// hardly ever made of chance alone.
	Value, Low, Sure sample.Milli
}

// Load returns the peak after so many seconds of which requests were drawn at a rate, or at
// none that is known, 0.
func (p *Peak) Load(seconds int64, rate float64) PeakLoad {
	most := highestOf(float64(seconds))
	z := detect.PeakNoise * addedBy(rate) * most
	return PeakLoad{p.lowerBound(z), p.lowerBound(z + detect.PeakRange), p.lowerBound(most + detect.PeakRange)}
}

// addedBy returns which share of what sampling's noise is by itself it adds to the highest
// second: a load varies by itself as well, as requests that come independently do, and the
// two deviations add in squares. The more is sampled, the more is the load's own.
func addedBy(rate float64) float64 {
	if rate >= 1 {
		return 0
	}
	return (1 - math.Sqrt(rate)) / math.Sqrt(1-rate)
}

func (p *Peak) lowerBound(z float64) sample.Milli {
	z = min(max(z/peakStep, 0), peakSteps-1)
	i := min(int(z), peakSteps-2)
	part := z - float64(i)
	return detect.Milli(p[i]*(1-part) + p[i+1]*part)
}
