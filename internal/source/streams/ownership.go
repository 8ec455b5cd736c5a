package streams

import (
	"context"
	"sync"
	"time"

	"github.com/keyheat/keyheat/internal/retry"
)

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
		retry.Pause(ctx, tenureLook)
	}
	return ctx.Err()
}
