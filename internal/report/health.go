package report

import (
	"maps"
	"slices"
	"sync"
)

// partStore is the part of the health that is of no collector.
const partStore = ""

// health keeps what is wrong now, a sentence for each part that fails. It is
// safe for use by many goroutines.
type health struct {
	mu    sync.Mutex
	wrong map[string]string
}

// fail notes what is wrong with a part, and says whether that is news.
func (h *health) fail(part, reason string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.wrong == nil {
		h.wrong = make(map[string]string)
	}
	news := h.wrong[part] != reason
	h.wrong[part] = reason
	return news
}

// heal notes that a part works.
func (h *health) heal(part string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.wrong, part)
}

// Ready answers why the judge is not ready; nothing when it is. A judge that
// waits for the lease is ready.
func (j *Judge) Ready() []string {
	j.health.mu.Lock()
	defer j.health.mu.Unlock()
	var reasons []string
	for _, part := range slices.Sorted(maps.Keys(j.health.wrong)) {
		reason := j.health.wrong[part]
		if part != partStore {
			reason = part + ": " + reason
		}
		reasons = append(reasons, reason)
	}
	return reasons
}
