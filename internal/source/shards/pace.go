package shards

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/keyheat/keyheat/internal/daemon"
)

// pacer lets requests pass evenly, at a rate that several pacers may share.
type pacer struct {
	rate    rate.Limit // requests a second of all pacers together
	limiter *rate.Limiter

	mu     sync.Mutex
	begins time.Time // no request passes before
}

// newPacer returns a pacer that has the whole rate for itself.
func newPacer(limit rate.Limit) *pacer {
	return &pacer{rate: limit, limiter: rate.NewLimiter(limit, 1)}
}

// divide shares the rate among n collectors, including this one. The others notice a new
// collector within a round, so that it starts newcomer later.
func (p *pacer) divide(n int, newcomer time.Duration) {
	n = max(n, 1)
	p.limiter.SetLimit(p.rate / rate.Limit(n))
	if n == 1 || newcomer == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begins = time.Now().Add(newcomer)
}

func (p *pacer) untilBegin() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Until(p.begins)
}

// try reports whether a request may pass now, and counts it if so.
func (p *pacer) try() bool { return p.untilBegin() <= 0 && p.limiter.Allow() }

// wait returns when a request may pass, or when ctx ends.
func (p *pacer) wait(ctx context.Context) error {
	if d := p.untilBegin(); d > 0 {
		daemon.Pause(ctx, d)
	}
	return p.limiter.Wait(ctx)
}
