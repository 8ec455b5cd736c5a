package gather

import "github.com/keyheat/keyheat/sample"

// Spread is what sampling leaves open of an amount: the amount is a sum over
// sampled calls, each divided by its rate.
type Spread struct {
	// Variance bounds Σ s²(1−p)/p² over calls of s units on the key, sampled at rate
	// p: the variance of the sum, in squared units.
	Variance float64
	// Largest is the largest s/p: what one more sampled call would have added, in
	// units.
	Largest float64
}

// Note adds a record of n requests of w units, of which so many were drawn at once,
// at rate p below 1. The square of a sum of m parts is at most m times the sum of
// their squares: so records of one call add up to a bound without having met, and
// to the variance itself where its items are equal.
func (s *Spread) Note(n, together, w, p float64) {
	if w > 0 {
		s.Variance += n * together * w * w * (1 - p) / (p * p)
		s.Largest = max(s.Largest, together*w/p)
	}
}

// Extend adds w units to a call that had some before, sampled at rate p below 1.
func (s *Spread) Extend(before *float64, w, p float64) {
	if w > 0 {
		s.Variance += (2**before*w + w*w) * (1 - p) / (p * p)
		*before += w
		s.Largest = max(s.Largest, *before/p)
	}
}

// Plus adds that of other calls.
func (s Spread) Plus(o Spread) Spread {
	return Spread{s.Variance + o.Variance, max(s.Largest, o.Largest)}
}

// Draws is how the requests of a key were sampled, as their records state it. It is
// zero for summaries that do not tell.
type Draws struct {
	// Estimated counts the requests whose units DynamoDB did not report.
	Estimated int64
	// Assumed counts the sampled requests that do not say which were drawn together:
	// they are taken for independent.
	Assumed int64
	// RateLow and RateHigh are the smallest and the largest rate; zero when all
	// requests were seen.
	RateLow, RateHigh float64
}

// Note adds how the requests of a record were sampled.
func (d *Draws) Note(r *sample.Record) {
	if r.Estimated {
		d.Estimated += r.N
	}
	if r.Rate < 1 && r.Calls == 0 && r.Call == "" {
		d.Assumed += r.N
	}
	*d = d.addRate(r.Rate)
}

// addRate returns the draws with a request of that rate.
func (d Draws) addRate(rate float64) Draws {
	if d.RateLow == 0 || rate < d.RateLow {
		d.RateLow = rate
	}
	d.RateHigh = max(d.RateHigh, rate)
	return d
}

// Seal returns what leaves the second; whole says that there were other requests, which
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

// Plus adds those of other requests of the key. Where one part saw all of its
// requests, the rates differ.
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
