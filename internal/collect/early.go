package collect

import (
	"sync"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sketch"
)

const (
	// earlyWithin is the greatest age of a second that is worth an early commit. A backlog
	// is not urgent.
	earlyWithin = 10 * time.Second
	// hotKeysKept bounds the number of hot keys in memory.
	hotKeysKept = 1024
)

// hotKeys are the keys that were recently over a partition's limit. Each of a key's first
// seconds over the limit is worth an early commit: as many as the judge may wait for before
// it fires. Later seconds are not, until the key has been below the limit long enough for
// its finding to resolve. So a key that is hot for hours costs a few commits.
type hotKeys struct {
	mu   sync.Mutex
	keys map[uint64]hotKey
}

type hotKey struct {
	last    int64 // the newest second over the limit
	seconds int   // number of seconds, up to one more than are worth a commit
}

// observe records keys that came over the limit, and reports whether one of them is worth
// an early commit.
func (h *hotKeys) observe(over []sketch.Over, now time.Time) (early bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range over {
		if now.Sub(time.Unix(o.Second, 0)) <= earlyWithin && h.add(o) {
			early = true
		}
	}
	return early
}

// add records one second of a key, and reports whether it is worth an early commit.
func (h *hotKeys) add(o sketch.Over) bool {
	k, known := h.keys[o.Hash]
	if known && o.Second <= k.last {
		return false
	}
	if !known && len(h.keys) >= hotKeysKept {
		if h.forget(o.Second); len(h.keys) >= hotKeysKept {
			return false // so many hot keys rather indicate a wrong sampling rate
		}
	}
	if k.isResolved(o.Second) {
		k = hotKey{}
	}
	k.last, k.seconds = o.Second, min(k.seconds+1, detect.HarmSeconds+1)
	h.keys[o.Hash] = k
	return k.seconds <= detect.HarmSeconds
}

// isResolved reports whether the key had been below the limit for long before a second.
func (k hotKey) isResolved(second int64) bool { return second-k.last > detect.ResolveSeconds }

func (h *hotKeys) forget(second int64) {
	for hash, k := range h.keys {
		if k.isResolved(second) {
			delete(h.keys, hash)
		}
	}
}

func (h *hotKeys) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.keys)
}
