package awssdk

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// gate decides, before a request is sent, whether it is kept, and returns the rate of that
// decision.
type gate interface {
	// admit decides about a request that will make about this many records.
	admit(records int) (rate float64, ok bool)
}

func newGate(o Options) gate {
	switch {
	case o.MaxPerSecond > 0:
		return &adaptive{pace: pace{limit: float64(o.MaxPerSecond)}}
	case o.Rate == 0:
		return fixed(1)
	}
	return fixed(o.Rate)
}

// fixed keeps a fixed part of the requests.
type fixed float64

func (f fixed) admit(int) (float64, bool) {
	return float64(f), f > 0 && (f == 1 || rand.Float64() < float64(f))
}

// adaptive is a pace shared by many goroutines.
type adaptive struct {
	mu sync.Mutex
	pace
}

func (a *adaptive) admit(records int) (float64, bool) {
	second := time.Now().Unix()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pace.admit(second, records, rand.Float64())
}

// pace is an adaptive rate. It is unbiased for any traffic, because a request's rate depends
// only on earlier requests, and never on the chance that decides about it. Weighted by 1/rate,
// every request counts as one on average (Horvitz and Thompson; the sum's error is a
// martingale).
//
// A second begins with the rate that would have kept half the limit of the last second's
// requests. Beyond that half, the rate halves for each further 1/32 of the limit. So a second
// reaches the limit only with thousands of times the expected requests.
type pace struct {
	limit        float64
	second       int64
	seen, kept   float64 // records offered and kept in this second
	first, slice float64 // the second's first rate, and the records per halving
}

func (p *pace) admit(second int64, records int, chance float64) (float64, bool) {
	if second != p.second {
		p.turn(second)
	}
	p.seen += float64(records)
	rate := p.first
	for kept := p.kept; kept >= p.slice && rate > sample.MinRate; kept -= p.slice {
		rate /= 2
	}
	rate = max(rate, sample.MinRate)
	if chance >= rate {
		return rate, false
	}
	p.kept += float64(records)
	return rate, true
}

// turn begins a second. After a pause of more than a second it starts with a rate of 1, as a
// new process does.
func (p *pace) turn(second int64) {
	p.first = 1
	if second == p.second+1 && p.seen > p.limit/2 {
		p.first = p.limit / 2 / p.seen
	}
	p.slice = p.limit / 32
	// Up to half of the limit the rate stays constant, so that ordinary traffic folds into one
	// record.
	p.second, p.seen, p.kept = second, 0, -p.limit/2
}
