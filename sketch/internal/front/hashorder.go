package front

import (
	"math/bits"
	"slices"
)

// Position is a key's hash and its index.
type Position struct {
	Hash uint64
	At   uint32
}

// HashOrder sorts keys by their hashes. It reuses its memory.
type HashOrder struct {
	keys, order []Position
	starts      []uint32 // by the first bits of a hash, the next free index in order
}

// Clear forgets all keys and keeps the memory.
func (l *HashOrder) Clear() { l.keys = l.keys[:0] }

// Add adds a key.
func (l *HashOrder) Add(hash uint64, at uint32) { l.keys = append(l.keys, Position{hash, at}) }

// SortedKeys returns the keys in order, until the next Clear. Hashes are evenly spread, so the
// first bits of a hash bring its key to its final place or near it.
func (l *HashOrder) SortedKeys() []Position {
	n := len(l.keys)
	shift := 64 - bits.Len(uint(n))
	l.starts = append(l.starts[:0], make([]uint32, 1<<bits.Len(uint(n))+1)...)
	for _, k := range l.keys {
		l.starts[k.Hash>>shift+1]++
	}
	for i := range l.starts[1:] {
		l.starts[i+1] += l.starts[i]
	}
	l.order = slices.Grow(l.order[:0], n)[:n]
	for _, k := range l.keys {
		start := &l.starts[k.Hash>>shift]
		l.order[*start] = k
		*start++
	}
	for i, k := range l.order {
		for ; i > 0 && l.order[i-1].Hash > k.Hash; i-- {
			l.order[i] = l.order[i-1]
		}
		l.order[i] = k
	}
	return l.order
}
