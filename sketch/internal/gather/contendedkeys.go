package gather

import "slices"

// contendedFor is the number of seconds for which a shard remembers a contended item, and
// contendedAtOnce the most keys that it remembers. It counts a remembered item from the first
// request of a second, and not only from its first lost attempt.
const contendedFor, contendedAtOnce = 60, 64

// ContendedKeys remembers the contended items of the last seconds.
type ContendedKeys map[uint64]*rememberedKey // by the key's hash

type rememberedKey struct {
	newest int64 // the newest second with a lost attempt
	items  []rememberedItem
}

type rememberedItem struct {
	hash uint64
	text string
}

// Remember notes a lost attempt.
func (c ContendedKeys) Remember(key, item uint64, text string, second int64) {
	k := c[key]
	if k == nil {
		if len(c) >= contendedAtOnce {
			c.forget(second - contendedFor)
		}
		if len(c) >= contendedAtOnce {
			return
		}
		k = &rememberedKey{}
		c[key] = k
	}
	k.newest = max(k.newest, second)
	if len(k.items) < contendedKept && !slices.ContainsFunc(k.items, func(i rememberedItem) bool { return i.hash == item }) {
		k.items = append(k.items, rememberedItem{item, string(append([]byte(nil), text[:min(len(text), TextBytes)]...))})
	}
}

func (c ContendedKeys) forget(before int64) {
	for hash, k := range c {
		if k.newest < before {
			delete(c, hash)
		}
	}
}

// Recall returns the items of a key that lost attempts shortly before a second.
func (c ContendedKeys) Recall(key uint64, second int64) []rememberedItem {
	k := c[key]
	if k == nil || second-k.newest > contendedFor {
		return nil
	}
	return k.items
}
