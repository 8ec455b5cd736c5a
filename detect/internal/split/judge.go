package split

import (
	"math"

	"github.com/keyheat/keyheat/detect"
)

// Judge returns whether splits would help against a kind of load, in the seconds from the
// Unix second from on. It is nil if the ring keeps none of them. The caller may change
// the result.
func (r *Ring) Judge(k detect.Subject, from int64) *detect.Split {
	asked := question{k, from}
	v, known := r.verdicts[asked]
	if !known {
		v = r.judge(k, from)
		if r.verdicts == nil {
			r.verdicts = make(map[question]*detect.Split, 2)
		}
		r.verdicts[asked] = v
	}
	if v == nil {
		return nil
	}
	own := *v
	return &own
}

// judge computes the verdict that Judge keeps.
func (r *Ring) judge(k detect.Subject, from int64) *detect.Split {
	s := r.collect(k, from)
	if len(s.seconds) == 0 {
		return nil
	}
	v := s.judge()
	if v.ResidualHigh == 0 {
		v.ResidualLow, v.ResidualHigh = v.Residual, v.Residual
	}
	for _, figure := range []*float64{&v.Load, &v.Item, &v.Residual, &v.ResidualLow, &v.ResidualHigh, &v.Refused} {
		*figure = math.Round(*figure*1e4) / 1e4 // sums of variances depend on their order
	}
	return &v
}

// judge returns the verdict and its figures.
func (s *evidence) judge() detect.Split {
	mean, variance := s.load(s.first, s.last)
	v := detect.Split{Verdict: detect.SplitUnknown, Seconds: int(s.length()), Load: mean * s.limit}
	v.Item = s.heaviestItem(variance) * s.limit
	if s.length() < earlySeconds || len(s.requests) < earlyPlaces {
		return v
	}
	if alone := s.heaviestItemOver() * s.limit; v.Item <= s.limit && alone > s.limit && (mean <= 1 || s.peak() > burstPeak*mean) {
		// One item exceeds the limit whenever the key does, but not on average. No split
		// helps against that.
		v.Verdict, v.Item, v.Residual = detect.SplitHotItem, alone, alone
		v.Refused = 1 - s.limit/alone
		return v
	}
	if v.Item > s.limit {
		all := comparison{after: shares(s.requests)}
		v.Verdict, v.Residual = detect.SplitHotItem, max(v.Item, all.heaviest()*v.Load)
		v.Refused = (v.Residual - s.limit) / v.Load
		return v
	}
	if areHidden(s.requests) {
		v.Verdict = detect.SplitHidden
		return v
	}
	third := (s.length() + 1) / 3
	before, after := s.requestsBetween(s.first, s.first+third-1), s.requestsBetween(s.last-third+1, s.last)
	if len(before) < eachPlaces || len(after) < eachPlaces {
		return v
	}
	c := comparison{
		before: shares(before), between: shares(s.requestsBetween(s.first+third, s.last-third)), after: shares(after), requests: after,
	}
	c.load, c.variance = s.load(s.last-third+1, s.last)
	if math.Abs(c.load-mean) <= deviations*math.Sqrt(c.variance+variance) && variance > 0 {
		c.load, c.variance = mean, variance // the whole time is less uncertain
	}
	s.decide(&v, c)
	return v
}

// decide judges the comparison of the first third with the last.
func (s *evidence) decide(v *detect.Split, c comparison) {
	shown := c.splitLoad(c.load, heatShare, median)
	v.Splits, v.Residual, v.Refused = len(shown.loads)-1, shown.most*c.load*s.limit, shown.refusedShare(c.load)
	v.ResidualLow, v.ResidualHigh = v.Residual, v.Residual
	for _, point := range [...]splitPoint{lowest, highest, middle} {
		residual := c.splitLoad(c.load, heatShare, point).most * c.load * s.limit
		v.ResidualLow, v.ResidualHigh = min(v.ResidualLow, residual), max(v.ResidualHigh, residual)
	}
	load, variance := c.load, c.variance
	if load < 1 {
		load, variance = judgedAt, 0
	}
	byLoad, byKeys := c.splitLoad(load, coolShare, median), c.splitLoad(load, coolShare, middle)
	whole, halves := byLoad.bounds(load, variance, len(c.requests)), byKeys.bounds(load, variance, len(c.requests))
	turn := c.measureTurns(byLoad)
	peak := s.peak()
	mean, _ := s.load(s.first, s.last)
	item := c.heaviest() * load
	switch {
	case c.moves(load, variance) && item <= min(1, itemShare*load):
		v.Verdict, v.Direction = detect.SplitMoving, c.direction(byLoad)
	case turn.low*(load-deviations*math.Sqrt(variance)) > 1 && item <= 1:
		// The parts are full in turn: limits hold for a second, and splits take minutes.
		v.Verdict, v.Direction = detect.SplitMoving, c.direction(byLoad)
		v.Residual = turn.mean * c.load * s.limit
		v.ResidualLow, v.ResidualHigh = v.Residual, v.Residual
		v.Refused = max(v.Refused, 1-1/(turn.mean*c.load))
	case s.length() >= burstSeconds && peak > 1 && peak > burstPeak*mean && c.splitLoad(mean, heatShare, median).most*peak > 1:
		v.Verdict = detect.SplitBursts
	case turn.low > byLoad.pairShare() && math.Sqrt(turn.mean)*load > 1:
	case c.drift() != "":
		// Head and tail of a queue stay on parts of their own until the tail reaches the
		// split. That takes longer than the window.
		v.Direction = c.drift()
		if c.fills(load, heatShare, variance) && item <= 1 {
			v.Verdict = detect.SplitMoving
		}
	case s.length() >= window && whole.high <= 1 && halves.high <= 1 && 2*int64(len(s.seconds)) >= s.length():
		v.Verdict = detect.SplitHelps
	}
}
