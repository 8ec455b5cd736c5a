package corroboration

import (
	"math"

	"github.com/keyheat/keyheat/detect"
)

// Coverage is the part of the real load that the samples show, by side. A side is nil if
// too few minutes have load.
type Coverage struct{ Write, Read *detect.Figure }

// CoverageOf estimates the coverage of the last Span minutes. The reading's minutes must
// not change after it.
func CoverageOf(r *Reading) Coverage {
	if r.coverage == nil {
		minutes := r.Minutes[max(0, len(r.Minutes)-Span):]
		r.coverage = &Coverage{Write: coverage(minutes, writes), Read: coverage(minutes, reads)}
	}
	return *r.coverage
}

// coverage returns sampled units over consumed units, with a 95% interval from the
// deviations of single minutes. The interval holds for any sampling method, even one that
// the samples do not state.
func coverage(minutes []Minute, s side) *detect.Figure {
	var sampled, real []float64
	allSampled, allReal := 0.0, 0.0
	for _, m := range minutes {
		consumed, has := m.Metrics[s.consumed]
		if !has || consumed <= 0 || m.Sampled == nil {
			continue
		}
		shown := s.sampled(*m.Sampled)
		sampled, real = append(sampled, shown), append(real, consumed)
		allSampled, allReal = allSampled+shown, allReal+consumed
	}
	n := float64(len(real))
	if len(real) < leastMinutes {
		return nil
	}
	ratio, squares := allSampled/allReal, 0.0
	for i := range real {
		d := sampled[i] - ratio*real[i]
		squares += d * d
	}
	margin := student95(n-1) * math.Sqrt(squares*n/(n-1)) / allReal
	return &detect.Figure{Value: ratio, Low: max(0, ratio-margin), High: ratio + margin}
}

// student95 returns the two-sided 95% quantile of Student's t with df degrees of freedom,
// by the expansion of Cornish and Fisher. It is within 1% from df 4 on.
func student95(df float64) float64 {
	const z = 1.959964
	z3, z5 := z*z*z, z*z*z*z*z
	return z + (z3+z)/(4*df) + (5*z5+16*z3+3*z)/(96*df*df) + (3*z5*z*z+19*z5+17*z3-15*z)/(384*df*df*df)
}

// fall returns the coverage before and in the last minutes, if it certainly fell.
func fall(r *Reading, s side) (before, now *detect.Figure) {
	minutes := r.Minutes[max(0, len(r.Minutes)-Span):]
	cut := len(minutes) - recentMinutes
	if cut < 2*recentMinutes {
		return nil, nil
	}
	before, now = coverage(minutes[:cut], s), coverage(minutes[cut:], s)
	if before == nil || now == nil || now.High >= fallen*before.Low {
		return nil, nil
	}
	return before, now
}
