package collect

import (
	"sync"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sketch"
)

const (
	// earlyWithin is how old a second may be to be worth an early commit: nobody waits
	// for a commit while a backlog is read.
	earlyWithin = 10 * time.Second
	// hotKeysKept bounds the keys that are known to be hot.
	hotKeysKept = 1024
)

// hotKeys are the keys that are over a partition's limit of late. What the judge does
// not know yet of one is worth a commit before its time: its first seconds over the
// limit, as many as the judge may wait for, and nothing from then on until it has been
// quiet for so long that its finding is resolved. So a key that is hot for hours costs a
// few commits.
type hotKeys struct {
	mu   sync.Mutex
	keys map[uint64]hotKey
}

// hotKey is what is known of a key that is hot.
type hotKey struct {
	last    int64 // the newest second over the limit
	seconds int   // how many there were
}

// note notes keys that came over the limit, and reports whether the judge should know
// of one at once.
func (h *hotKeys) note(over []sketch.Over, now time.Time) (news bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range over {
		if now.Sub(time.Unix(o.Second, 0)) <= earlyWithin && h.isNews(o) {
			news = true
		}
	}
	return news
}

func (h *hotKeys) isNews(o sketch.Over) bool {
	k, known := h.keys[o.Hash]
	if known && o.Second <= k.last {
		return false
	}
	if !known && len(h.keys) >= hotKeysKept {
		h.forget(o.Second)
	}
	if k.isOver(o.Second) {
		k = hotKey{}
	}
	k.last, k.seconds = o.Second, min(k.seconds+1, detect.HarmSeconds+1)
	h.keys[o.Hash] = k
	return k.seconds <= detect.HarmSeconds
}

// isOver reports whether the key's heat had ended before a second.
func (k hotKey) isOver(second int64) bool { return second-k.last > detect.ResolveSeconds }

// forget makes room: it forgets the keys that are hot no more, or, where that makes
// none, all.
func (h *hotKeys) forget(second int64) {
	for hash, k := range h.keys {
		if k.isOver(second) {
			delete(h.keys, hash)
		}
	}
	if len(h.keys) >= hotKeysKept {
		clear(h.keys)
	}
}

// clear forgets all keys.
func (h *hotKeys) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.keys)
}
