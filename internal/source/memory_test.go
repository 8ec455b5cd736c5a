package source_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

func acquire(t *testing.T, b *source.Budget, n int64) *source.Hold {
	t.Helper()
	h, err := b.Acquire(t.Context(), n)
	must.Succeed(t, err)
	return h
}

// TestAHoldGrowsAtOnceOrNotAtAll: who holds something never waits for more.
func TestAHoldGrowsAtOnceOrNotAtAll(t *testing.T) {
	t.Parallel()
	b := source.NewBudget(100)
	one, other := acquire(t, b, 40), acquire(t, b, 40)
	if !one.Grow(60) || one.Grow(61) || other.Grow(41) || !other.Grow(40) {
		t.Error("100 bytes are not shared as 60 and 40")
	}
	other.Release()
	other.Release()
	if other.Grow(1) {
		t.Error("a hold grows after it was released")
	}
	if !one.Grow(100) || !one.Grow(1000) {
		t.Error("one that is alone gets neither all nor more than all")
	}
	one.Release()
	acquire(t, b, 100).Release()
}

// TestAHoldIsExtendedInLine: it waits behind the others, and keeps what it holds when its time is
// over.
func TestAHoldIsExtendedInLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := source.NewBudget(100)
		one, other := acquire(t, b, 40), acquire(t, b, 60)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if one.Extend(short, 40) != nil || one.Extend(short, 41) == nil || !one.Grow(40) {
			t.Error("there was room for what is not there, or none for what is")
		}
		extended := make(chan error)
		go func() { extended <- one.Extend(t.Context(), 1000) }()
		synctest.Wait()
		other.Release()
		if err := <-extended; err != nil || !one.Grow(100) {
			t.Errorf("one that waits does not get all: %v", err)
		}
		one.Release()
		acquire(t, b, 100).Release()
	})
}

func TestOneWaitsInLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := source.NewBudget(100)
		one, small := acquire(t, b, 60), acquire(t, b, 10)
		if b.HasWaiters() {
			t.Error("wanted, and nobody waits")
		}
		got := make(chan *source.Hold)
		go func() { got <- acquire(t, b, 1000) }()
		synctest.Wait()
		if !b.HasWaiters() {
			t.Error("not wanted, and somebody waits")
		}
		if small.Grow(11) {
			t.Error("one grows past another that waits")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.Acquire(ctx, 1); err == nil {
			t.Error("granted past another that waits")
		}
		one.Release()
		small.Release()
		large := <-got
		if b.HasWaiters() || large.Grow(100) != true {
			t.Error("who asked for more than all has not all")
		}
		large.Release()
	})
}

// TestHalfIsNotToSpare: Spare leaves half of the budget free, and passes no waiting holder.
func TestHalfIsNotToSpare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := source.NewBudget(100)
		one := acquire(t, b, 20)
		spare := b.Spare(30)
		if spare == nil || b.Spare(1) != nil {
			t.Fatal("50 of 100 bytes and no more are not to spare")
		}
		if !one.Grow(70) || one.Grow(71) {
			t.Error("what is spared is not held")
		}
		one.Shrink(10)
		if spare.Release(); b.Spare(41) != nil {
			t.Error("more than half of 100 bytes is to spare")
		}
		got := make(chan *source.Hold)
		go func() { got <- acquire(t, b, 100) }()
		synctest.Wait()
		if b.Spare(1) != nil {
			t.Error("spared past another that waits")
		}
		one.Release()
		(<-got).Release()
		if all := b.Spare(50); all == nil {
			t.Error("what was given back is not to spare")
		}
	})
}

// TestHoldersNeverExceedTheBudget has holders come and go at once.
func TestHoldersNeverExceedTheBudget(t *testing.T) {
	t.Parallel()
	const size, holders = 64, 8
	b := source.NewBudget(size)
	var mu sync.Mutex
	held := int64(0)
	count := func(n int64) {
		mu.Lock()
		defer mu.Unlock()
		if held += n; held > size {
			t.Errorf("%d bytes are held of %d", held, size)
		}
	}
	var all sync.WaitGroup
	for i := range int64(holders) {
		all.Go(func() {
			for round := range int64(200) {
				n := 1 + (i*7+round*13)%size
				h := acquire(t, b, n)
				count(n)
				if more := min(size, n+i); h.Grow(more) {
					count(more - n)
					n = more
				}
				count(-n)
				h.Release()
			}
		})
	}
	all.Wait()
	acquire(t, b, size).Release()
}
