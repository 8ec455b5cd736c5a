// Package keyhash makes and recognises the hashes that replace hidden keys.
package keyhash

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"strings"
)

// A hash is a mark and 16 bytes of HMAC-SHA-256, in base64 without padding. The mark
// distinguishes a hash from other texts of the same length.
const (
	mark = '~'
	size = 16
	// Length is the length of a hash in bytes.
	Length = 1 + (size*8+5)/6
)

// Hasher replaces texts of keys by keyed hashes. Equal texts get equal hashes. Without the
// secret key, nobody can recover a text, even by trying all of them. A Hasher is for one
// goroutine.
type Hasher struct {
	mac    hash.Hash
	buffer []byte
}

// New returns a hasher with a secret key.
func New(key []byte) *Hasher { return &Hasher{mac: hmac.New(sha256.New, key)} }

// Hide returns the hash of a text of a kind, such as the letter of a key's type. The number 42
// and the text 42 have different hashes.
func (h *Hasher) Hide(kind, text string) string {
	h.mac.Reset()
	h.buffer = append(append(h.buffer[:0], kind...), text...)
	h.mac.Write(h.buffer)
	h.buffer = h.mac.Sum(h.buffer[:0])
	return string(mark) + base64.RawURLEncoding.EncodeToString(h.buffer[:size])
}

// Find returns the position of the first hash in a text, or -1.
func Find(text string) int {
	for i := 0; i < len(text); i++ {
		next := strings.IndexByte(text[i:], mark)
		if next < 0 {
			return -1
		}
		i += next
		if len(text)-i >= Length && strings.IndexFunc(text[i+1:i+Length], notInHash) < 0 {
			return i
		}
	}
	return -1
}

func notInHash(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}
