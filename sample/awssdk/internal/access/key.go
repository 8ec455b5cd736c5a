package access

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
)

// Item is an item in the SDK's types: attributes by name.
type Item = map[string]types.AttributeValue

// attributeKey returns the key of an attribute's value, or false if the value cannot be a key.
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

// KeyOf joins the named attributes of an item, or returns false if one is missing.
func KeyOf(it Item, names []string) (sample.Key, bool) {
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
