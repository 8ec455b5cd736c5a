package front

import (
	"strings"

	"github.com/keyheat/keyheat/sample"
)

// inline is how many bytes of a text lie at its place. Longer texts are elsewhere.
const inline = 48

// KeyText is where the text and the type of a key are, with its place. The zero value is
// that of a place that had no key yet.
type KeyText struct {
	length  uint32
	long    uint32 // where in Store.long, 0 for nowhere yet
	keyType uint32 // in Store.types
}

// KeyTexts keeps a key a place, as long as it is not cleared.
type KeyTexts struct {
	places [][inline]byte
	long   [][]byte // the first is nobody's
	longs  int      // how many of long are in use
	types  []string
}

// NewKeyTexts returns a store without keys.
func NewKeyTexts() KeyTexts { return KeyTexts{longs: 1, types: []string{sample.TypeString}} }

// Put keeps the key of a place, which had the text before.
func (s *KeyTexts) Put(at int, before KeyText, key sample.Key) KeyText {
	t := KeyText{length: uint32(len(key.Text)), long: before.long, keyType: s.typeOf(key.Type)}
	if len(key.Text) > inline {
		if t.long == 0 {
			for s.longs >= len(s.long) {
				s.long = append(s.long, nil)
			}
			t.long = uint32(s.longs)
			s.longs++
		}
		s.long[t.long] = append(s.long[t.long][:0], key.Text...)
		return t
	}
	if at >= len(s.places) {
		s.places = append(s.places, make([][inline]byte, at+1-len(s.places))...)
	}
	copy(s.places[at][:], key.Text)
	return t
}

// typeOf returns the number of a type: there are at most 3+9+27+81.
func (s *KeyTexts) typeOf(t string) uint32 {
	for i, known := range s.types {
		if known == t {
			return uint32(i)
		}
	}
	s.types = append(s.types, strings.Clone(t)) // a record's strings live only as long as its message
	return uint32(len(s.types) - 1)
}

// Bytes returns the text of a place, until another is put there.
func (s *KeyTexts) Bytes(at int, t KeyText) []byte {
	if t.length > inline {
		return s.long[t.long]
	}
	return s.places[at][:t.length]
}

// Type returns the type of a key.
func (s *KeyTexts) Type(t KeyText) string { return s.types[t.keyType] }

// Clear forgets all texts, keeping the memory.
func (s *KeyTexts) Clear() { s.longs = 1 }

// TextBlock makes strings, several in one piece of memory: one that is kept keeps at most
// blockBytes besides itself. The zero value is ready.
type TextBlock struct{ b strings.Builder }

const blockBytes = 256

// String returns the text as a string.
func (b *TextBlock) String(text []byte) string {
	if b.b.Len()+len(text) > b.b.Cap() {
		b.b.Reset()
		b.b.Grow(max(blockBytes, len(text)))
	}
	from := b.b.Len()
	b.b.Write(text)
	return b.b.String()[from:]
}
