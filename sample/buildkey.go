package sample

import "encoding/base64"

func (d *Decoder) buildKeys() (reason Reason) {
	if d.rec.PK, reason = d.key(fieldPK); reason != "" {
		return reason
	}
	d.rec.SK, reason = d.key(fieldSK)
	return reason
}

// key is a key field: one attribute, or an array of up to MaxKeyParts.
func (d *Decoder) key(f field) (Key, Reason) {
	if !d.seen.has(f) {
		return Key{}, ""
	}
	v := d.given[f]
	if v.kind != kindArray {
		return d.attribute(v)
	}
	var parts [MaxKeyParts]Key
	var reason Reason
	n := 0
	c := cursor{src: d.src, pos: v.start}
	c.array(func(v value) {
		switch {
		case reason != "":
		case n == MaxKeyParts:
			reason = ReasonBadKey
		default:
			parts[n], reason = d.attribute(v)
			n++
		}
	})
	if reason == "" && n == 0 {
		reason = ReasonBadKey
	}
	if reason != "" {
		return Key{}, reason
	}
	return JoinKeys(parts[:n]...), ""
}

// attribute is one key attribute: a string, a number, or {"S"|"N"|"B": …}.
func (d *Decoder) attribute(v value) (Key, Reason) {
	switch v.kind {
	case kindString, kindEscaped:
		return d.stringKey(v)
	case kindNumber:
		return numberKey(alias(d.src[v.start:v.end]))
	case kindObject:
		return d.typedKey(v)
	}
	return Key{}, ReasonBadKey
}

// typedKey is an attribute in DynamoDB's own JSON, which has one member.
func (d *Decoder) typedKey(object value) (Key, Reason) {
	var letter string
	var inner value
	single, members := true, 0
	c := cursor{src: d.src, pos: object.start}
	c.object(func(name, v value) {
		text, reason := d.textOf(name)
		single = single && reason == "" && (members == 0 || letter == text)
		letter, inner = text, v
		members++
	})
	if !single {
		return Key{}, ReasonBadKey
	}
	if letter == typeNumber && inner.kind == kindNumber {
		return d.attribute(inner)
	}
	if inner.kind != kindString && inner.kind != kindEscaped {
		return Key{}, ReasonBadKey
	}
	switch letter {
	case typeString:
		return d.stringKey(inner)
	case typeNumber, typeBinary:
		text, reason := d.textOf(inner)
		switch {
		case reason != "":
			return Key{}, reason
		case letter == typeNumber:
			return numberKey(text)
		}
		return binaryKey(text)
	}
	return Key{}, ReasonBadKey
}

func (d *Decoder) stringKey(v value) (Key, Reason) {
	text, reason := d.textOf(v)
	if reason == "" && text == "" {
		reason = ReasonBadKey // DynamoDB forbids it
	}
	return KeyString(text), reason
}

func numberKey(text string) (Key, Reason) {
	k, err := KeyNumber(text)
	if err != nil {
		return Key{}, ReasonBadKey
	}
	return k, ""
}

// binaryKey takes base64 with its padding or without.
func binaryKey(text string) (Key, Reason) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		raw, err = base64.RawStdEncoding.DecodeString(text)
	}
	if err != nil || len(raw) == 0 {
		return Key{}, ReasonBadKey
	}
	return KeyBinary(raw), ""
}
