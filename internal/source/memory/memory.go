// Package memory is a budget of bytes that the partitions of a source share: what was
// fetched, and what is decompressed of it, until it is counted.
//
// A holder waits in line while it holds nothing, and never while it holds something:
// more is granted at once or refused, and who is refused gives back what it has and
// waits for the whole. So holders cannot wait for each other, and what is larger than
// the budget is granted to one that is alone.
package memory

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Budget is a number of bytes that holders share.
type Budget struct {
	size    int64
	free    *semaphore.Weighted
	held    atomic.Int64
	waiting atomic.Int64
}

// New returns a budget of size bytes.
func New(size int64) *Budget {
	return &Budget{size: size, free: semaphore.NewWeighted(size)}
}

// HasWaiters reports whether somebody waits for memory.
func (b *Budget) HasWaiters() bool { return b.waiting.Load() > 0 }

// Hold is what one holder has. It is safe for use by many goroutines, so that one that
// was given up on can go on asking in vain.
type Hold struct {
	budget *Budget
	mu     sync.Mutex
	bytes  int64
	ended  bool
}

// Acquire waits until n bytes are free, in line with others, or ctx ends. More than the
// whole budget is granted when it is all free.
func (b *Budget) Acquire(ctx context.Context, n int64) (*Hold, error) {
	n = min(n, b.size)
	if !b.free.TryAcquire(n) {
		b.waiting.Add(1)
		defer b.waiting.Add(-1)
		if err := b.free.Acquire(ctx, n); err != nil {
			return nil, err
		}
	}
	return b.hold(n), nil
}

// Spare returns a hold of n bytes for what is wanted later. It is nil, and nobody waits,
// where less than half of the budget would stay free for what is wanted now.
func (b *Budget) Spare(n int64) *Hold {
	if b.held.Load()+n > b.size/2 || !b.free.TryAcquire(n) {
		return nil
	}
	return b.hold(n)
}

func (b *Budget) hold(n int64) *Hold {
	b.held.Add(n)
	return &Hold{budget: b, bytes: n}
}

// Grow makes the hold one of n bytes, if it is less. It reports false, and changes
// nothing, where others have them or are in line for them.
func (h *Hold) Grow(n int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	n = min(n, h.budget.size)
	switch {
	case h.ended:
		return false
	case n <= h.bytes:
		return true
	case !h.budget.free.TryAcquire(n - h.bytes):
		return false
	}
	h.budget.held.Add(n - h.bytes)
	h.bytes = n
	return true
}

// Shrink gives back what the hold has beyond n bytes.
func (h *Hold) Shrink(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n < h.bytes {
		h.giveBack(h.bytes - n)
	}
}

// SplitOff makes n bytes of the hold, or as many as it has, a hold of their own.
func (h *Hold) SplitOff(n int64) *Hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	n = min(n, h.bytes)
	h.bytes -= n
	return &Hold{budget: h.budget, bytes: n}
}

// largeBytes is the size from which a buffer is worth a garbage collection.
const largeBytes = 8 << 20

// Make returns a buffer of n bytes. Before a large one garbage is collected and returned
// to the system: the last large one may be among it, and beside it the new one would make
// the process that much larger than what is held.
func Make(n int) []byte {
	if n >= largeBytes {
		debug.FreeOSMemory()
	}
	return make([]byte, n)
}

// Release gives everything back. A second call does nothing.
func (h *Hold) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.giveBack(h.bytes)
	h.ended = true
}

// giveBack gives n bytes of the hold back.
func (h *Hold) giveBack(n int64) {
	h.budget.held.Add(-n)
	h.budget.free.Release(n)
	h.bytes -= n
}

// Buffers are some that nobody uses now. No budget counts them: more of them than a few
// cores keep busy are not kept.
type Buffers struct {
	kept chan []byte
	most int
}

// NewBuffers returns no buffers. Larger ones than most are not kept: a rare giant does not
// stay in memory.
func NewBuffers(most int) *Buffers { return &Buffers{kept: make(chan []byte, 4), most: most} }

// Get returns a buffer of n bytes, with what was in it.
func (b *Buffers) Get(n int) []byte {
	select {
	case kept := <-b.kept:
		if cap(kept) >= n {
			return kept[:n]
		}
	default:
	}
	return Make(n)
}

// Keep keeps a buffer for another use, unless it is a small one: that is as quickly made
// again, and would take the place of a large one.
func (b *Buffers) Keep(buf []byte) {
	if cap(buf) > b.most || cap(buf) < b.most/16 {
		return
	}
	select {
	case b.kept <- buf:
	default:
	}
}
