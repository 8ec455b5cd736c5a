package keydesign

import (
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// shortKey is a key without what its table's others share: these are most of what a
// small table takes.
type shortKey struct {
	hash uint64
	text string
	// first is the first second that lists the key, which all that tell the times of
	// requests have in 32 bits.
	first uint32
	// kind is the place of the key's type.
	kind uint16
	cut  bool
}

func newShortKey(k *sketch.KeyLoad, second int64, types *keyTypes) shortKey {
	return shortKey{k.Hash, k.Key.Text, shortSecond(second), types.place(k.Key.Type), k.Cut}
}

// list records that a second lists the key, which may tell more of it.
func (s *shortKey) list(k *sketch.KeyLoad, second int64, types *keyTypes) {
	s.first = min(s.first, shortSecond(second))
	if s.cut && !k.Cut {
		s.text, s.kind, s.cut = k.Key.Text, types.place(k.Key.Type), false
	}
}

func shortSecond(second int64) uint32 { return uint32(max(0, min(second, math.MaxUint32))) }

// keyTypes are the types of a table's keys; few, as each is a letter for an attribute.
type keyTypes []string

// place returns the place of a type, which may be new.
func (t *keyTypes) place(keyType string) uint16 {
	i := slices.Index(*t, keyType)
	if i < 0 {
		i = len(*t)
		*t = append(*t, keyType)
	}
	return uint16(i)
}

// key returns a key with its type.
func (t keyTypes) key(s *shortKey) sample.Key { return sample.Key{Type: t[s.kind], Text: s.text} }
