package collect

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// maxClockOffset is how far this host's clock may be off the store's before the
// collector is not ready: time synchronisation keeps hosts within milliseconds.
const maxClockOffset = 5 * time.Second

// hostClock measures how far this host's clock is ahead of the store's. Collectors call
// seconds complete and have to agree on the time, and all of them can ask the store. It is
// safe for concurrent use.
type hostClock struct {
	offset atomic.Pointer[time.Duration] // nil when it was never measured
}

// measure asks the store for its time. The offset may be wrong by half of the round trip.
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

// latest returns the latest time of a sample to count, in Unix milliseconds: tooFarAhead
// after the store's time, once that is known. A future second would be judged, and end
// current findings, too early.
func (h *hostClock) latest() int64 {
	if h.offset.Load() == nil {
		return math.MaxInt64
	}
	return h.storeTime(time.Now()).Add(tooFarAhead).UnixMilli()
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
