package awssdk

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
)

// item is attributes by name, as the SDK has them.
type item = map[string]types.AttributeValue

// attributeKey returns the key of one attribute's value; false when it can be none.
func attributeKey(value types.AttributeValue) (sample.Key, bool) {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return sample.KeyString(v.Value), v.Value != ""
	case *types.AttributeValueMemberN:
		key, err := sample.KeyNumber(v.Value)
		return key, err == nil
	case *types.AttributeValueMemberB:
		return sample.KeyBinary(v.Value), len(v.Value) > 0
	}
	return sample.Key{}, false
}

// keyOf joins the named attributes of an item; false when one is missing.
func keyOf(it item, names []string) (sample.Key, bool) {
	if len(names) == 0 {
		return sample.Key{}, false
	}
	if len(names) == 1 {
		return attributeKey(it[names[0]])
	}
	parts := make([]sample.Key, len(names))
	for i, name := range names {
		var ok bool
		if parts[i], ok = attributeKey(it[name]); !ok {
			return sample.Key{}, false
		}
	}
	return sample.JoinKeys(parts...), true
}

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
