package gather

import "github.com/zeebo/xxh3"

// keptText is the length of a text up to which it is kept: of longer ones nobody has many.
const keptText = 512

// TextHasher hashes texts, and a text that is that of the time before not again. The zero value
// is ready.
type TextHasher struct {
	text       []byte
	seed, hash uint64
}

// Hash returns the seeded hash of a text that is not empty.
func (l *TextHasher) Hash(text string, seed uint64) uint64 {
	if l.seed == seed && string(l.text) == text {
		return l.hash
	}
	hash := xxh3.HashStringSeed(text, seed)
	if len(text) <= keptText {
		l.text, l.seed, l.hash = append(l.text[:0], text...), seed, hash
	}
	return hash
}
