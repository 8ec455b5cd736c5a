package streams

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// memberPart is the part of the health that is of no shard and no table.
const memberPart = ""

// health keeps what is wrong now, by part: a shard's name, or a table's, or
// memberPart. It is safe for use by many goroutines.
type health struct {
	patience time.Duration
	mu       sync.Mutex
	wrong    map[string]fault
}

type fault struct {
	reason string
	since  time.Time
}

func newHealth(patience time.Duration) *health {
	return &health{patience: patience, wrong: make(map[string]fault)}
}

// fail notes what is wrong with a part, and says whether that is news. It counts
// when it has lasted for the patience.
func (h *health) fail(part, reason string, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, known := h.wrong[part]
	news := !known || f.reason != reason
	if !known {
		f.since = now
	}
	f.reason = reason
	h.wrong[part] = f
	return news
}

// failNow notes what is known to last.
func (h *health) failNow(part, reason string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	news := h.wrong[part].reason != reason
	h.wrong[part] = fault{reason: reason}
	return news
}

// heal notes that a part works, or is not ours any more, and says whether that
// is news.
func (h *health) heal(part string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, news := h.wrong[part]
	delete(h.wrong, part)
	return news
}

// reasons lists what is wrong. A table may have thousands of shards, which mostly
// fail for one reason: it is said once.
func (h *health) reasons(now time.Time) []string {
	type kind struct{ table, reason string }
	shards := make(map[kind]int)
	h.mu.Lock()
	for part, f := range h.wrong {
		if now.Sub(f.since) >= h.patience {
			shards[kind{TableOf(part), f.reason}]++
		}
	}
	h.mu.Unlock()
	var out []string
	for k, n := range shards {
		reason := k.reason
		if k.table != memberPart {
			reason = k.table + ": " + reason
		}
		if n > 1 {
			reason = fmt.Sprintf("%s (%d times)", reason, n)
		}
		out = append(out, reason)
	}
	slices.Sort(out)
	return out
}
