package awssdk

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/keyheat/keyheat/sample"
)

// maxHidden is how many components of one key are hashed apart: the rest is
// one more, so that a key of separators stays short.
const maxHidden = 16

// hider replaces keys by keyed hashes, so that plain keys never leave the
// process. It works by component: each attribute of a multi-attribute key, and
// in a string each part between '#', is hashed for itself. Equal components
// stay equal, so that keys of one base still show what they share. Nil hides
// nothing.
type hider struct{ key []byte }

func newHider(key []byte) *hider {
	if len(key) == 0 {
		return nil
	}
	return &hider{key: append([]byte(nil), key...)}
}

func (h *hider) hide(k sample.Key) sample.Key {
	if h == nil || k.IsZero() {
		return k
	}
	parts := k.Parts()
	for i, part := range parts {
		parts[i] = sample.KeyString(h.text(part))
	}
	return sample.JoinKeys(parts...)
}

func (h *hider) text(part sample.Key) string {
	components := []string{part.Text}
	if part.Type == "S" {
		components = strings.SplitN(part.Text, "#", maxHidden)
	}
	for i, c := range components {
		mac := hmac.New(sha256.New, h.key)
		mac.Write([]byte(part.Type + c)) // a number is another key than its text
		components[i] = base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
	}
	return strings.Join(components, "#")
}
