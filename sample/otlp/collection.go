package otlp

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/keyheat/keyheat/sample"
)

// collectionKey returns the partition key in the item collection metrics of a write of one
// item; the unknown key if there is none or the JSON is broken. A batch has metrics by table,
// and its items have no common key.
func collectionKey(texts []string) sample.Key {
	var metrics struct {
		ItemCollectionKey map[string]attributeValue
	}
	if len(texts) != 1 || json.Unmarshal([]byte(texts[0]), &metrics) != nil || len(metrics.ItemCollectionKey) != 1 {
		return sample.Key{}
	}
	for _, v := range metrics.ItemCollectionKey {
		return v.key()
	}
	return sample.Key{}
}

// attributeValue is a key's attribute, as the instrumentations write it.
type attributeValue struct {
	S *string
	N *string
	B *binary
}

func (v attributeValue) key() sample.Key {
	switch {
	case v.S != nil:
		return sample.KeyString(*v.S)
	case v.B != nil:
		return sample.KeyBinary(*v.B)
	case v.N != nil:
		k, _ := sample.KeyNumber(*v.N) // unknown after an error
		return k
	}
	return sample.Key{}
}

// UnmarshalJSON reads an attribute value with its type, or the plain text that boto3's
// resources have for a string.
func (v *attributeValue) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &v.S)
	}
	type typed attributeValue
	return json.Unmarshal(text, (*typed)(v))
}

var errGap = errors.New("a byte is missing")

// binary is a binary value: base64, or the object that JavaScript makes of a Uint8Array.
type binary []byte

func (b *binary) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, (*[]byte)(b))
	}
	var bytes map[string]byte
	if err := json.Unmarshal(text, &bytes); err != nil {
		return err
	}
	*b = make(binary, len(bytes))
	for i := range *b {
		var whole bool
		if (*b)[i], whole = bytes[strconv.Itoa(i)]; !whole {
			return errGap
		}
	}
	return nil
}
