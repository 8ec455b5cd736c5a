package keyheatjson

import (
	"encoding/base64"

	"github.com/keyheat/keyheat/sample"
)

func (d *Decoder) buildKeys() (reason sample.RejectReason) {
	if d.rec.PK, reason = d.key(fieldPK); reason != "" {
		return reason
	}
	d.rec.SK, reason = d.key(fieldSK)
	return reason
}

// key reads a key field: one attribute, or an array of up to MaxKeyParts.
func (d *Decoder) key(f field) (sample.Key, sample.RejectReason) {
	if !d.seen.has(f) {
		return sample.Key{}, ""
	}
	v := d.given[f]
	if v.kind != kindArray {
		return d.attribute(v)
	}
	var parts [sample.MaxKeyParts]sample.Key
	var reason sample.RejectReason
	n := 0
	c := cursor{src: d.src, pos: v.start}
	c.array(func(v value) {
		switch {
		case reason != "":
		case n == sample.MaxKeyParts:
			reason = sample.RejectBadKey
		default:
			parts[n], reason = d.attribute(v)
			n++
		}
	})
	if reason == "" && n == 0 {
		reason = sample.RejectBadKey
	}
	if reason != "" {
		return sample.Key{}, reason
	}
	return sample.JoinKeys(parts[:n]...), ""
}

// attribute reads one key attribute: a string, a number, or {"S"|"N"|"B": …}.
func (d *Decoder) attribute(v value) (sample.Key, sample.RejectReason) {
	switch v.kind {
	case kindString, kindEscaped:
		return d.stringKey(v)
	case kindNumber:
		return numberKey(alias(d.src[v.start:v.end]))
	case kindObject:
		return d.typedKey(v)
	}
	return sample.Key{}, sample.RejectBadKey
}

// typedKey reads an attribute in DynamoDB's own JSON, which has one member.
func (d *Decoder) typedKey(object value) (sample.Key, sample.RejectReason) {
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
		return sample.Key{}, sample.RejectBadKey
	}
	if letter == sample.TypeNumber && inner.kind == kindNumber {
		return d.attribute(inner)
	}
	if inner.kind != kindString && inner.kind != kindEscaped {
		return sample.Key{}, sample.RejectBadKey
	}
	switch letter {
	case sample.TypeString:
		return d.stringKey(inner)
	case sample.TypeNumber, sample.TypeBinary:
		text, reason := d.textOf(inner)
		switch {
		case reason != "":
			return sample.Key{}, reason
		case letter == sample.TypeNumber:
			return numberKey(text)
		}
		return binaryKey(text)
	}
	return sample.Key{}, sample.RejectBadKey
}

func (d *Decoder) stringKey(v value) (sample.Key, sample.RejectReason) {
	text, reason := d.textOf(v)
	if reason == "" && text == "" {
		reason = sample.RejectBadKey // DynamoDB forbids empty keys
	}
	return sample.KeyString(text), reason
}

func numberKey(text string) (sample.Key, sample.RejectReason) {
	k, err := sample.KeyNumber(text)
	if err != nil {
		return sample.Key{}, sample.RejectBadKey
	}
	return k, ""
}

// binaryKey reads base64 with or without padding.
func binaryKey(text string) (sample.Key, sample.RejectReason) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		raw, err = base64.RawStdEncoding.DecodeString(text)
	}
	if err != nil || len(raw) == 0 {
		return sample.Key{}, sample.RejectBadKey
	}
	return sample.KeyBinary(raw), ""
}
