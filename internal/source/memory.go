package source

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Budget is a number of bytes that the partitions of a source share. It covers fetched and
// decompressed bytes until they are counted.
//
// A holder waits in line only while it holds no memory. Otherwise a request for more is
// granted at once or refused, and a refused holder releases its memory and waits for the
// whole amount. So holders cannot wait for each other. A request larger than the budget is
// granted when nobody else holds memory. [Hold.Extend] is the exception.
type Budget struct {
	size    int64
	free    *semaphore.Weighted
	held    atomic.Int64
	waiting atomic.Int64
}

// NewBudget returns a budget of size bytes.
func NewBudget(size int64) *Budget {
	return &Budget{size: size, free: semaphore.NewWeighted(size)}
}

// HasWaiters reports whether a holder waits for memory.
func (b *Budget) HasWaiters() bool { return b.waiting.Load() > 0 }

// Hold is the memory of one holder. It is safe for concurrent use: an abandoned holder may
// go on asking, and is refused.
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

// Spare returns a hold of n bytes for later. It does not wait: it returns nil if less than
// half of the budget would stay free for immediate needs.
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

// Grow enlarges a smaller hold to n bytes. It reports false, and changes nothing, if others
// have the memory or wait for it.
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

// Extend is a Grow that waits in line, until ctx ends. Holders may wait for each other: each must
// have such an end, and release what it holds then.
func (h *Hold) Extend(ctx context.Context, n int64) error {
	h.mu.Lock()
	missing := min(n, h.budget.size) - h.bytes
	h.mu.Unlock()
	if missing <= 0 {
		return nil
	}
	more, err := h.budget.Acquire(ctx, missing)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bytes += more.bytes
	return nil
}

// Shrink gives back the hold's bytes beyond n.
func (h *Hold) Shrink(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n < h.bytes {
		h.giveBack(h.bytes - n)
	}
}

// SplitOff moves at most n bytes of the hold to a new hold.
func (h *Hold) SplitOff(n int64) *Hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	n = min(n, h.bytes)
	h.bytes -= n
	return &Hold{budget: h.budget, bytes: n}
}

// largeBytes is the size of a buffer that is worth a garbage collection.
const largeBytes = 8 << 20

// MakeBuffer returns a buffer of n bytes. Before it makes a large one, it collects garbage and
// returns it to the system: the last large buffer may be garbage, and both would exceed the
// budget.
func MakeBuffer(n int) []byte {
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

// Buffers keeps unused buffers. No budget counts them, so that it keeps only as many as a
// few cores need.
type Buffers struct {
	kept chan []byte
	most int
}

// NewBuffers returns an empty store of buffers. It drops buffers larger than most, so that
// a rare giant does not stay in memory.
func NewBuffers(most int) *Buffers { return &Buffers{kept: make(chan []byte, 4), most: most} }

// Get returns a buffer of n bytes with arbitrary content.
func (b *Buffers) Get(n int) []byte {
	select {
	case kept := <-b.kept:
		if cap(kept) >= n {
			return kept[:n]
		}
	default:
	}
	return MakeBuffer(n)
}

// Keep keeps a buffer for another use. It drops small ones, which are quickly made again
// and would take the place of a large one.
func (b *Buffers) Keep(buf []byte) {
	if cap(buf) > b.most || cap(buf) < b.most/16 {
		return
	}
	select {
	case b.kept <- buf:
	default:
	}
}
