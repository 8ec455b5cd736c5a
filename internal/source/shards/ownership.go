package shards

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
)

// ownership is the time until which this collector certainly owns its shards, by its own
// clock. The collector reads its clock before the Registry's.
type ownership struct{ until atomic.Pointer[time.Time] }

func (t *ownership) extend(until time.Time) { t.until.Store(&until) }

func (t *ownership) holds() bool {
	until := t.until.Load()
	return until != nil && time.Now().Before(*until)
}

// ownershipPoll is how often await checks.
const ownershipPoll = 100 * time.Millisecond

// await waits until ownership is certain. Until then another collector may be
// reading.
func (t *ownership) await(ctx context.Context) error {
	for !t.holds() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		daemon.Pause(ctx, ownershipPoll)
	}
	return ctx.Err()
}
