package sampling

import (
	"gonum.org/v1/gonum/mathext"

	"github.com/keyheat/keyheat/detect"
)

// Part is a part of an amount, such as the refused requests of all: both are sums over the
// same sampled calls. The zero value is ready.
type Part struct {
	Of, All float64
	// Variance is the variance that sampling adds to All. It adds up over calls, so requests
	// that were drawn together count once. Zero means that all requests were seen.
	Variance float64
}

// Plus returns the part over other seconds, too.
func (p Part) Plus(o Part) Part { return Part{p.Of + o.Of, p.All + o.All, p.Variance + o.Variance} }

// Share returns the likely share, 0 to 1. It is 0 of nothing.
func (p Part) Share() float64 { return min(1, detect.Ratio(p.Of, p.All)) }

// draws returns how many independent draws would prove as much: L. Kish's effective sample
// size. n calls of one size, sampled at rate r, are worth n/(1−r): the more of all requests
// were seen, the less is open.
func (p Part) draws() float64 { return p.All * p.All / p.Variance }

// Lower returns a bound that the share is under with the given probability, by the interval
// of C. J. Clopper and E. S. Pearson (1934). It holds also where few draws decide. If all
// requests were seen, it is the share itself.
func (p Part) Lower(probability float64) float64 {
	share := p.Share()
	if p.Variance <= 0 || share == 0 {
		return share
	}
	n := max(p.draws(), 1)
	return mathext.InvRegIncBeta(share*n, (1-share)*n+1, probability)
}

// Upper returns a bound that the share is over with the given probability.
func (p Part) Upper(probability float64) float64 {
	share := p.Share()
	if p.Variance <= 0 || share == 1 {
		return share
	}
	n := max(p.draws(), 1)
	return mathext.InvRegIncBeta(share*n+1, (1-share)*n, 1-probability)
}

// Bounds returns the ends of the 95% interval.
func (p Part) Bounds() (low, high float64) { return p.Lower(detect.ShowTail), p.Upper(detect.ShowTail) }

// Clusters add up a part by seconds, where samples do not tell which requests were drawn
// together. Requests of one draw have one second, so what differs between seconds bounds what
// sampling adds, however many a draw has. The zero value is ready.
type Clusters struct {
	seconds                   int
	of, all                   float64
	ofSquare, both, allSquare float64
}

// Add adds a second.
func (c *Clusters) Add(of, all float64) {
	c.Join(Clusters{1, of, all, of * of, of * all, all * all})
}

// Join adds the seconds of others.
func (c *Clusters) Join(o Clusters) {
	c.seconds, c.of, c.all = c.seconds+o.seconds, c.of+o.of, c.all+o.all
	c.ofSquare, c.both, c.allSquare = c.ofSquare+o.ofSquare, c.both+o.both, c.allSquare+o.allSquare
}

// Part returns the part over all seconds, by the variance of a ratio of cluster sums (W. G.
// Cochran, "Sampling Techniques", 1977). No request is worth more than one draw.
func (c *Clusters) Part(sampled bool) Part {
	p := Part{Of: c.of, All: c.all}
	if !sampled || c.all <= 0 {
		return p
	}
	share, n := p.Share(), float64(c.seconds)
	p.Variance = c.all * c.all / n // one draw a second
	if share > 0 && share < 1 && n > 1 {
		residual := max(0, c.ofSquare-2*share*c.both+share*share*c.allSquare) * n / (n - 1)
		p.Variance = min(p.Variance, residual/(share*(1-share)))
	}
	p.Variance = max(p.Variance, c.all)
	return p
}
