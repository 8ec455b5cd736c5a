package keydesign

import (
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// shortKey is a key without the fields that its table's keys share. Short keys take most
// of a small table's memory.
type shortKey struct {
	hash uint64
	text string
	// first is the first second that lists the key. The times of requests fit into 32
	// bits.
	first uint32
	// kind is the index of the key's type in keyTypes.
	kind uint16
	cut  bool
}

func newShortKey(k *sketch.KeyLoad, second int64, types *keyTypes) shortKey {
	return shortKey{k.Hash, k.Key.Text, shortSecond(second), types.place(k.Key.Type), k.Cut}
}

// list records that a second lists the key. A whole text replaces a cut one.
func (s *shortKey) list(k *sketch.KeyLoad, second int64, types *keyTypes) {
	s.first = min(s.first, shortSecond(second))
	if s.cut && !k.Cut {
		s.text, s.kind, s.cut = k.Key.Text, types.place(k.Key.Type), false
	}
}

func shortSecond(second int64) uint32 { return uint32(max(0, min(second, math.MaxUint32))) }

// keyTypes are the types of a table's keys. They are few, as each is the letter of an
// attribute type.
type keyTypes []string

func (t *keyTypes) place(keyType string) uint16 {
	i := slices.Index(*t, keyType)
	if i < 0 {
		i = len(*t)
		*t = append(*t, keyType)
	}
	return uint16(i)
}

func (t keyTypes) key(s *shortKey) sample.Key { return sample.Key{Type: t[s.kind], Text: s.text} }
