package api

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/keyheat/keyheat/internal/retry"
)

// AWS allows ten DescribeStream requests a second. One collector lists; every
// one lists the children of its own shards, and they share a rate. What is left is
// for seconds in which the requests of several coincide.
const (
	listingRate  = 4.0
	ChildrenRate = 3.0
)

// Pacer lets requests pass at a rate, evenly, that several pacers may share.
type Pacer struct {
	rate    rate.Limit // of all that share it, a second
	limiter *rate.Limiter

	mu     sync.Mutex
	begins time.Time // no request passes before
}

// NewPacer returns a pacer that has the whole rate for itself.
func NewPacer(limit rate.Limit) *Pacer {
	return &Pacer{rate: limit, limiter: rate.NewLimiter(limit, 1)}
}

// Divide shares the rate among n, of whom this is one. Others learn of one that
// is new within a round: it begins that much later.
func (p *Pacer) Divide(n int, newcomer time.Duration) {
	n = max(n, 1)
	p.limiter.SetLimit(p.rate / rate.Limit(n))
	if n == 1 || newcomer == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begins = time.Now().Add(newcomer)
}

func (p *Pacer) untilBegin() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Until(p.begins)
}

// Try reports whether a request may pass now, and counts it if so.
func (p *Pacer) Try() bool { return p.untilBegin() <= 0 && p.limiter.Allow() }

// Wait returns when a request may pass, or when ctx ends.
func (p *Pacer) Wait(ctx context.Context) error {
	if d := p.untilBegin(); d > 0 {
		retry.Pause(ctx, d)
	}
	return p.limiter.Wait(ctx)
}
