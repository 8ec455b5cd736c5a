package front

import (
	"strings"

	"github.com/keyheat/keyheat/sample"
)

// inline is the most bytes of a text that are kept in KeyTexts.places.
const inline = 48

// KeyText refers to the text and the type of a key. The zero value belongs to a place that has
// had no key yet.
type KeyText struct {
	length  uint32
	long    uint32 // index into KeyTexts.long, 0 for none yet
	keyType uint32 // index into KeyTexts.types
}

// KeyTexts keeps the text of one key for each place, without a pointer for each, since most
// texts are short.
type KeyTexts struct {
	places [][inline]byte
	long   [][]byte // index 0 stands for none
	longs  int      // the next free index of long
	types  []string
}

// NewKeyTexts returns a store without keys.
func NewKeyTexts() KeyTexts { return KeyTexts{longs: 1, types: []string{sample.TypeString}} }

// Put keeps a key's text at a place. before is the reference of the place's last key.
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

// typeOf returns the number of a type. There are at most 3+9+27+81 types.
func (s *KeyTexts) typeOf(t string) uint32 {
	for i, known := range s.types {
		if known == t {
			return uint32(i)
		}
	}
	s.types = append(s.types, strings.Clone(t)) // a record's strings live only as long as its message
	return uint32(len(s.types) - 1)
}

// KeyType returns the commonest types without an allocation.
func KeyType(b []byte) string {
	switch string(b) {
	case "S":
		return "S"
	case "N":
		return "N"
	case "B":
		return "B"
	}
	return string(b)
}

// Bytes returns the text at a place, valid until the next Put there.
func (s *KeyTexts) Bytes(at int, t KeyText) []byte {
	if t.length > inline {
		return s.long[t.long]
	}
	return s.places[at][:t.length]
}

// Type returns the type of a key.
func (s *KeyTexts) Type(t KeyText) string { return s.types[t.keyType] }

// Clear forgets all texts and keeps the memory.
func (s *KeyTexts) Clear() { s.longs = 1 }

// TextBlock makes several strings in one allocation. A string that stays in use keeps at most
// blockBytes besides itself. The zero value is ready.
type TextBlock struct{ b strings.Builder }

const blockBytes = 256

func (b *TextBlock) String(text []byte) string {
	if b.b.Len()+len(text) > b.b.Cap() {
		b.b.Reset()
		b.b.Grow(max(blockBytes, len(text)))
	}
	from := b.b.Len()
	b.b.Write(text)
	return b.b.String()[from:]
}
