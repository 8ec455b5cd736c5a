package streams

import (
	"context"
	"sync"
	"time"
)

// AWS allows ten DescribeStream requests a second. One collector lists; every
// one looks for the children of its own shards, and they share a rate. What is
// left is for seconds in which the turns of several fall together.
const (
	listingRate  = 4.0
	childrenRate = 3.0
)

// pacer lets requests pass at a rate, evenly.
type pacer struct {
	mu    sync.Mutex
	rate  float64 // a second
	share int     // how many pacers share the rate
	next  time.Time
}

func newPacer(rate float64) *pacer { return &pacer{rate: rate, share: 1} }

// divide shares the rate among n, of whom this is one. Others learn of one that
// is new within a round: it begins that much later.
func (p *pacer) divide(n int, newcomer time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.share = max(n, 1)
	if begin := time.Now().Add(newcomer); n > 1 && newcomer > 0 && p.next.Before(begin) {
		p.next = begin
	}
}

// try says whether it is the caller's turn now.
func (p *pacer) try() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.next.After(now) {
		return false
	}
	p.next = now.Add(p.every())
	return true
}

// every is the time between two turns. The caller holds mu.
func (p *pacer) every() time.Duration {
	return time.Duration(float64(p.share) / p.rate * float64(time.Second))
}

// wait returns when it is the caller's turn, or when ctx ends.
func (p *pacer) wait(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	turn := p.next
	if turn.Before(now) {
		turn = now
	}
	p.next = turn.Add(p.every())
	p.mu.Unlock()
	if d := turn.Sub(now); d > 0 {
		pause(ctx, d)
	}
	return ctx.Err()
}

// tenure is how long what this collector owns is certainly its own, by its own
// clock, which began to run before the Ledger's.
type tenure struct {
	mu    sync.Mutex
	until time.Time
}

func (t *tenure) extend(until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = until
}

func (t *tenure) holds() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Now().Before(t.until)
}

// tenureLook is how often one that waits for its tenure looks.
const tenureLook = 100 * time.Millisecond

// await waits until the tenure holds. Without it another may be reading.
func (t *tenure) await(ctx context.Context) error {
	for !t.holds() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pause(ctx, tenureLook)
	}
	return ctx.Err()
}
