package collect

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// maxClockOffset is how far this host's clock may be off the store's before the
// collector is not ready: time synchronisation keeps hosts within milliseconds.
const maxClockOffset = 5 * time.Second

// hostClock knows how far this host's clock is ahead of the store's. Collectors
// call seconds complete, and all have to agree on the time: the store's is the one
// that all can ask. It is safe for use by many goroutines.
type hostClock struct {
	offset atomic.Pointer[time.Duration] // nil when it was never measured
}

// measure asks the store. Half of the time that the answer takes is what the
// offset may be wrong by.
func (h *hostClock) measure(ctx context.Context, storeNow func(context.Context) (time.Time, error)) error {
	before := time.Now()
	now, err := storeNow(ctx)
	if err != nil {
		return err
	}
	took := time.Since(before)
	h.offset.Store(new(before.Add(took / 2).Sub(now)))
	return nil
}

// storeTime returns the store's time at a time of this host.
func (h *hostClock) storeTime(at time.Time) time.Time {
	if offset := h.offset.Load(); offset != nil {
		return at.Add(-*offset)
	}
	return at
}

// reason returns why the offset keeps the collector from being ready; empty when it
// does not.
func (h *hostClock) reason() string {
	measured := h.offset.Load()
	if measured == nil || measured.Abs() <= maxClockOffset {
		return ""
	}
	offset, side := measured.Abs(), "ahead of"
	if *measured < 0 {
		side = "behind"
	}
	return fmt.Sprintf("this host's clock is %s %s the database's: correct its time synchronisation", offset.Round(time.Second), side)
}
