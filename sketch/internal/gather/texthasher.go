package gather

import "github.com/zeebo/xxh3"

// keptText is the length in bytes up to which the last text is kept.
const keptText = 512

// TextHasher hashes texts that often repeat, such as callers. It hashes a text only if it
// differs from the text before. The zero value is ready.
type TextHasher struct {
	text       []byte
	seed, hash uint64
}

// Hash returns the seeded hash of a text, which must not be empty.
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
