package awssdk

import (
	"strings"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
)

// maxHidden is the most components of one key that are hashed apart. The rest of the key is one
// more component, so that a key of separators stays short.
const maxHidden = 16

// hider replaces keys by keyed hashes, so that plain keys never leave the process. It hashes
// each component alone: each attribute of a multi-attribute key, and each part of a string
// between '#'. Equal components get equal hashes, so related keys stay recognisable. A nil
// hider changes nothing.
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
	hasher := keyhash.New(h.key) // clients hide keys concurrently
	for i, c := range components {
		components[i] = hasher.Hide(part.Type, c)
	}
	return strings.Join(components, "#")
}
