package sampling

import (
	"math"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Means keeps the last seconds of a sampled key, to average out the noise of sampling.
type Means struct {
	first   int64
	seconds [detect.MeanLongest]meanSecond
}

type meanSecond struct {
	at              int64
	units, variance float64
	// whole is the standard deviation if sampling drew whole callers; it does not average
	// out. assumed reports that requests only count as independent.
	whole   float64
	assumed bool
}

// Second is the estimate of one second of a sampled key.
type Second struct {
	Estimate
	// Whole is the variance if sampling drew whole callers, zero if that is excluded.
	Whole float64
	// Assumed reports that records do not state which requests were drawn together.
	Assumed bool
}

// Add records a second. A second that is not added counts as zero.
func (m *Means) Add(at int64, s Second) {
	if m.first == 0 || at < m.first {
		m.first = at
	}
	m.seconds[at%detect.MeanLongest] = meanSecond{at, s.Units, s.Spread.Variance, math.Sqrt(s.Whole), s.Assumed}
}

// Proven returns the largest proven mean of the last seconds, in thousandths of a unit a
// second; zero if no mean reaches least units. believed is the mean that would be proven
// if requests without a statement of their draws were drawn independently. If a verdict
// depends on the difference, such samples cannot prove it.
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
		if v := sum.robustVariance(); v > sum.variance {
			independent = mean(v)
		}
		most = max(most, independent)
	}
	return most, believed
}

// LikelyOver returns the mean of the last minute, in thousandths of a unit a second, if
// the mean's 95% interval lies above the limit. It is zero otherwise. Requests count as
// drawn independently.
func (m *Means) LikelyOver(at int64, limit sample.Milli) sample.Milli {
	sum := m.sum(at, detect.MeanLongest)
	mean := Estimate{Units: sum.units}
	mean.Spread.Variance = sum.variance
	if sum.seconds < detect.MeanShort || mean.lowerBound(detect.ShowTail) <= detect.Units(limit)*sum.seconds {
		return 0
	}
	return detect.Milli(sum.units / sum.seconds)
}

// Most returns the load a second that sampling leaves possible on average over the last seconds:
// the short mean, which follows a load that rises, or the long one. largest is the most that one
// more sampled request would add. The mean of few seconds is not known.
func (m *Means) Most(at int64, largest float64) (most sample.Milli, known bool) {
	if m == nil {
		return 0, false
	}
	for _, length := range [...]int64{detect.MeanShort, detect.MeanLongest} {
		sum := m.sum(at, length)
		if sum.seconds < detect.MeanShort {
			return 0, false
		}
		e := Estimate{sum.units, sketch.Spread{Variance: sum.robustVariance(), Largest: largest}}
		most = max(most, milliUp(e.upperBound(detect.ShowTail)/sum.seconds))
	}
	return most, true
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

// Peak estimates the highest load that a key kept up from noisy seconds. It is the
// largest of the means over 1 to 60 seconds, each lowered by z standard deviations. The
// maximum of the seconds themselves would grow with the time observed. The right z
// depends on the final number of seconds, so Peak keeps a maximum for each step of z.
type Peak [peakSteps]float64

const (
	peakSteps = 24
	peakStep  = 0.25
)

// peakMeans are the lengths of the means, and the part of z that lowers each: chance adds
// less to the highest of fewer means.
var peakMeans = func() (all [6]struct {
	length int64
	part   float64
}) {
	for i, length := range [...]int64{1, 2, 5, detect.MeanShort, 30, detect.MeanLongest} {
		all[i].length, all[i].part = length, highestOf(3600/float64(length))/highestOf(3600)
	}
	return all
}()

// highestOf returns about how many standard deviations chance puts the highest of n
// values above their mean.
func highestOf(n float64) float64 { return math.Sqrt(2 * math.Log(max(n, 2))) }

// Raise raises the peak by the means that end with the second at.
func (p *Peak) Raise(m *Means, at int64) {
	for _, l := range peakMeans {
		sum := m.sum(at, l.length)
		mean, deviation := sum.units/float64(l.length), math.Sqrt(sum.variance)/float64(l.length)
		for i := range p {
			p[i] = max(p[i], mean-peakStep*float64(i)*l.part*deviation)
		}
	}
}

// PeakLoad is the highest load, estimated from noisy seconds.
type PeakLoad struct {
	// Value is the likely peak, Low its likely lower bound, and Sure a bound that chance
	// alone hardly ever reaches.
	Value, Low, Sure sample.Milli
}

// Load returns the peak after the given number of seconds. rate is the sampling rate, 0
// if unknown.
func (p *Peak) Load(seconds int64, rate float64) PeakLoad {
	most := highestOf(float64(seconds))
	z := detect.PeakNoise * noiseShare(rate) * most
	return PeakLoad{p.lowerBound(z), p.lowerBound(z + detect.PeakRange), p.lowerBound(most + detect.PeakRange)}
}

// noiseShare returns the share of sampling's own noise that raises the highest second.
// The load varies by itself, too, as independent requests do, and the two deviations add
// in squares. The higher the rate, the more of the noise is the load's own.
func noiseShare(rate float64) float64 {
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
