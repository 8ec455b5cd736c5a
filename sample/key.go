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

// The parts of a multi-attribute key are joined with keySeparator; either of
// these two bytes inside a part has keyEscape before it.
const (
	keySeparator = '|'
	keyEscape    = '\\'
)

// MaxKeyParts is how many attributes one key of a global secondary index may
// have. Source: Developer Guide, "Multi-attribute keys pattern".
const MaxKeyParts = 4

// KeyString returns the key of a string attribute.
func KeyString(s string) Key { return Key{Type: TypeString, Text: s} }

// KeyBinary returns the key of a binary attribute: its bytes in standard base64,
// padded.
func KeyBinary(b []byte) Key {
	return Key{Type: TypeBinary, Text: base64.StdEncoding.EncodeToString(b)}
}

// JoinKeys returns the key that has all these as its attributes, in order; those of
// a multi-attribute key follow one by one. One key joined is that key itself,
// and none is the unknown key.
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

// appendPart adds one attribute to the joined form of a key.
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

// Parts returns the key's attributes, each a key of its own; none of the unknown
// key.
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

// String returns the key as a person reads it: its text alone. Two keys of
// different types may read the same, so it is for showing, not for telling
// keys apart.
func (k Key) String() string { return k.Text }

// IsZero reports whether the key is not known.
func (k Key) IsZero() bool { return k == Key{} }

// Size returns how many bytes the key itself has, which is what DynamoDB's limits
// are about: a string's UTF-8 bytes, a binary's raw bytes, a number's text; of
// a multi-attribute key the sum of its parts.
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
