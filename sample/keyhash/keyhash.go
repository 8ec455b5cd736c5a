// Package keyhash is the form of hidden keys: what stands for a text of a key that a
// policy hides, wherever it is hidden and wherever it is recognised.
package keyhash

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"strings"
)

// What stands for a hidden text: mark and 16 bytes of its HMAC-SHA-256, in
// base64 without padding. The mark tells a hash from any other text of its length.
const (
	mark = '~'
	size = 16
	// Length is the length of what [Hasher.Hide] returns.
	Length = 1 + (size*8+5)/6
)

// Hasher hides texts of keys by a keyed hash: equal texts stay equal, and nobody
// without the key tells which they were, also not by trying. It is for one
// goroutine.
type Hasher struct {
	mac    hash.Hash
	buffer []byte
}

// New returns a hasher of a secret key.
func New(key []byte) *Hasher { return &Hasher{mac: hmac.New(sha256.New, key)} }

// Hide returns the hash of a text of a kind, such as the letter of a key's type: the
// number 42 and the text 42 have different ones.
func (h *Hasher) Hide(kind, text string) string {
	h.mac.Reset()
	h.buffer = append(append(h.buffer[:0], kind...), text...)
	h.mac.Write(h.buffer)
	h.buffer = h.mac.Sum(h.buffer[:0])
	return string(mark) + base64.RawURLEncoding.EncodeToString(h.buffer[:size])
}

// Find returns where the first hash in a text begins, -1 when there is none.
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
