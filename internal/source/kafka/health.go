package kafka

import (
	"maps"
	"slices"
	"sync"
)

// groupHealth is the part of the health that is of no partition.
const groupHealth = ""

// health keeps what is wrong now, a sentence for each part that fails. It is
// safe for use by many goroutines.
type health struct {
	mu    sync.Mutex
	wrong map[string]string
}

func newHealth() *health { return &health{wrong: make(map[string]string)} }

// fail notes what is wrong with a part, and says whether that is news.
func (h *health) fail(part, reason string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	news := h.wrong[part] != reason
	h.wrong[part] = reason
	return news
}

// heal notes that a part works, and says whether that is news.
func (h *health) heal(part string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, news := h.wrong[part]
	delete(h.wrong, part)
	return news
}

// reasons lists what is wrong, in the order of the parts.
func (h *health) reasons() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, part := range slices.Sorted(maps.Keys(h.wrong)) {
		reason := h.wrong[part]
		if part != groupHealth {
			reason = part + ": " + reason
		}
		out = append(out, reason)
	}
	return out
}
