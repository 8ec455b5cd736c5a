package gather

import "github.com/keyheat/keyheat/sample"

// Spread is the uncertainty that sampling adds to an amount. The amount is a sum over sampled
// calls, each divided by its rate.
type Spread struct {
	// Variance is an upper bound of the sum's variance in squared units: Σ s²(1−p)/p² over
	// calls of s units on the key, sampled at rate p.
	Variance float64
	// Largest is the largest s/p in units: the most that one more sampled call would have
	// added.
	Largest float64
}

// Note adds a record of n requests of w units at rate p below 1. `together` of them were drawn
// at once. The square of a sum of m parts is at most m times the sum of their squares. So the
// records of one call add up to a bound although they never meet, and to the variance itself if
// its items are equal.
func (s *Spread) Note(n, together, w, p float64) {
	if w > 0 {
		s.Variance += n * together * w * w * (1 - p) / (p * p)
		s.Largest = max(s.Largest, together*w/p)
	}
}

// Extend adds w units to a call that already has `before`, sampled at rate p below 1.
func (s *Spread) Extend(before *float64, w, p float64) {
	if w > 0 {
		s.Variance += (2**before*w + w*w) * (1 - p) / (p * p)
		*before += w
		s.Largest = max(s.Largest, *before/p)
	}
}

// Plus adds the spread of other calls.
func (s Spread) Plus(o Spread) Spread {
	return Spread{s.Variance + o.Variance, max(s.Largest, o.Largest)}
}

// Draws describes the sampling of a key's requests, as their records state it.
type Draws struct {
	// Estimated counts the requests whose units DynamoDB did not report.
	Estimated int64
	// Assumed counts the sampled requests whose records do not state which were drawn together.
	// They are taken as independent.
	Assumed int64
	// RateLow and RateHigh are the smallest and the largest sampling rate; zero if no request
	// was sampled.
	RateLow, RateHigh float64
}

// Note adds the sampling of a record's requests.
func (d *Draws) Note(r *sample.Record) {
	if r.Estimated {
		d.Estimated += r.N
	}
	if r.Rate < 1 && r.Calls == 0 && r.Call == "" {
		d.Assumed += r.N
	}
	*d = d.addRate(r.Rate)
}

// addRate returns the draws with one more rate.
func (d Draws) addRate(rate float64) Draws {
	if d.RateLow == 0 || rate < d.RateLow {
		d.RateLow = rate
	}
	d.RateHigh = max(d.RateHigh, rate)
	return d
}

// Seal returns the final draws of a second. whole means that the key had other requests, which
// were not sampled.
func (d Draws) Seal(whole bool) Draws {
	if whole {
		d = d.addRate(1)
	}
	if d.RateLow == 1 {
		d.RateLow, d.RateHigh = 0, 0
	}
	return d
}

// Plus adds the draws of other requests of the key. If only one part was sampled, the rates
// differ.
func (d Draws) Plus(o Draws) Draws {
	sum := Draws{Estimated: d.Estimated + o.Estimated, Assumed: d.Assumed + o.Assumed, RateLow: d.RateLow, RateHigh: max(d.RateHigh, o.RateHigh)}
	switch {
	case d.RateLow == 0 && o.RateLow == 0:
	case d.RateLow == 0:
		sum.RateLow, sum.RateHigh = o.RateLow, 1
	case o.RateLow == 0:
		sum.RateHigh = 1
	default:
		sum.RateLow = min(d.RateLow, o.RateLow)
	}
	return sum
}
