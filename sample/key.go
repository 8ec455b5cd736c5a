package sample

import (
	"encoding/base64"
	"strings"
)

// The letters of a key attribute's type.
const (
	TypeString = "S"
	TypeNumber = "N"
	TypeBinary = "B"
)

// keySeparator joins the parts of a multi-attribute key. keyEscape precedes either byte inside
// a part.
const (
	keySeparator = '|'
	keyEscape    = '\\'
)

// MaxKeyParts is the most attributes of one key of a global secondary index. Source: Developer
// Guide, "Multi-attribute keys pattern".
const MaxKeyParts = 4

// KeyString returns the key of a string attribute.
func KeyString(s string) Key { return Key{Type: TypeString, Text: s} }

// KeyBinary returns the key of a binary attribute: standard base64 with padding.
func KeyBinary(b []byte) Key {
	return Key{Type: TypeBinary, Text: base64.StdEncoding.EncodeToString(b)}
}

// JoinKeys returns the multi-attribute key with all attributes of the keys, in order. Joining
// one key returns the key itself, and joining none the unknown key.
func JoinKeys(keys ...Key) Key {
	if len(keys) == 1 {
		return keys[0]
	}
	var types, text []byte
	for _, k := range keys {
		for _, part := range k.Parts() {
			types, text = appendPart(types, text, part)
		}
	}
	if len(types) == 1 {
		return Key{Type: string(types), Text: unescapePart(string(text))}
	}
	return Key{Type: string(types), Text: string(text)}
}

// appendPart appends one attribute to the joined form of a key.
func appendPart(types, text []byte, part Key) (joinedTypes, joinedText []byte) {
	if len(types) > 0 {
		text = append(text, keySeparator)
	}
	types = append(types, part.Type...)
	for i := range len(part.Text) {
		if c := part.Text[i]; c == keySeparator || c == keyEscape {
			text = append(text, keyEscape)
		}
		text = append(text, part.Text[i])
	}
	return types, text
}

// Parts returns the key's attributes as keys, or none for the unknown key.
func (k Key) Parts() []Key {
	if len(k.Type) <= 1 {
		if k.Type == "" {
			return nil
		}
		return []Key{k}
	}
	parts := make([]Key, 0, len(k.Type))
	rest := k.Text
	for i := range len(k.Type) {
		var raw string
		raw, rest = cutPart(rest)
		parts = append(parts, Key{Type: k.Type[i : i+1], Text: unescapePart(raw)})
	}
	return parts
}

// cutPart splits the joined form behind its first part, which stays escaped.
func cutPart(text string) (part, rest string) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case keyEscape:
			i++
		case keySeparator:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

func unescapePart(part string) string {
	if strings.IndexByte(part, keyEscape) < 0 {
		return part
	}
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		if part[i] == keyEscape && i+1 < len(part) {
			i++
		}
		b.WriteByte(part[i])
	}
	return b.String()
}

// String returns the key's text for display. Keys of different types may have the same text, so
// do not compare keys by it.
func (k Key) String() string { return k.Text }

// IsZero reports whether the key is unknown.
func (k Key) IsZero() bool { return k == Key{} }

// Size returns the size of the key in bytes, as DynamoDB limits it: a string's UTF-8 bytes, a
// binary's raw bytes, a number's text, or the sum of a multi-attribute key's parts.
func (k Key) Size() int {
	if len(k.Type) == 1 {
		return partSize(k.Type[0], k.Text)
	}
	size, rest := 0, k.Text
	for i := range len(k.Type) {
		var raw string
		raw, rest = cutPart(rest)
		size += partSize(k.Type[i], unescapePart(raw))
	}
	return size
}

func partSize(letter byte, text string) int {
	if letter != TypeBinary[0] {
		return len(text)
	}
	return len(text)/4*3 - strings.Count(text[max(0, len(text)-2):], "=")
}
