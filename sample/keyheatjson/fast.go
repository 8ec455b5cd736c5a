package keyheatjson

import (
	"encoding/binary"
	"math/bits"

	"github.com/keyheat/keyheat/sample"
)

// content describes the decoder's record.
type content uint8

const (
	contentNone  content = iota // empty
	contentBuilt                // built by the slow path, or read in part
	contentShape                // a record of a known shape with the fields in Decoder.has
)

// isKnownTime reads an object of a known shape into the record and moves behind it. It returns
// false, with the cursor at its old position, if the slow path must read the object.
func (d *Decoder) isKnownTime(at int64) bool {
	if !d.shapes.try() {
		return false
	}
	// Most records overwrite the same fields as the record before.
	if d.content != contentShape {
		d.renew()
		d.has = 0
	}
	d.content = contentBuilt
	start := d.pos
	d.begin()
	d.depth = 1
	d.seen, d.scratch = 0, d.scratch[:0]
	var has fieldSet
	for s := d.shapes.first; ; s = s.next {
		for s != nil && !s.before.stands(d.src, d.pos) {
			s = s.other
		}
		if s == nil {
			break
		}
		d.pos += len(s.before.text)
		if s.form == formEnd {
			if d.finish(has, at) {
				d.content, d.has = contentShape, has
				d.shapes.hit()
				return true
			}
			break
		}
		has |= 1 << s.field
		if !d.read(s) {
			break
		}
	}
	d.pos = start
	return false
}

func (d *Decoder) renew() {
	if d.content != contentNone {
		d.rec = sample.Record{}
	}
	d.rec.Rate, d.rec.N, d.content = 1, 1, contentBuilt
}

// letGo drops the parts of the record that alias the message. The caller owns the message
// again, and the texts would keep all of it in memory.
func (d *Decoder) letGo() {
	switch {
	case d.content == contentShape && !d.inMessage:
		r := &d.rec
		r.PK.Text, r.SK.Text, r.Call, r.ID = "", "", "", ""
	case d.content != contentNone:
		d.rec, d.content, d.inMessage = sample.Record{}, contentNone, false
	}
}

// read reads the value of a step and moves behind it.
func (d *Decoder) read(s *step) (ok bool) {
	switch s.form {
	case formSame, formOp, formRead:
		return d.sameText(s)
	case formKey:
		k := &d.rec.PK
		if s.field == fieldSK {
			k = &d.rec.SK
		}
		k.Type = sample.TypeString
		k.Text, ok = d.plainText()
		return ok
	case formText:
		*s.text, ok = d.plainText()
		return ok
	case formTime:
		*s.whole, ok = d.readTime(s)
		return ok
	case formMilli:
		*s.milli, ok = d.readMilli(s.field)
		return ok
	case formWhole:
		*s.whole, ok = d.readWhole(s.field)
		return ok && (s.field != fieldAttempts || *s.whole > 0) // every call was sent
	case formFloat:
		return d.sameNumber(s)
	case formAny:
		v := d.value()
		d.given[s.field] = v
		d.seen |= 1 << s.field
		return d.reason == "" && v.kind != kindNull
	default:
		d.value()
	}
	return d.reason == ""
}

// plainText reads a string. The cursor is at the first byte of its text.
func (d *Decoder) plainText() (string, bool) {
	src, start := d.src, d.pos
	for i := start; i+8 <= len(src); i += 8 {
		marks := special(binary.LittleEndian.Uint64(src[i:]))
		if marks == 0 {
			continue
		}
		if i += bits.TrailingZeros64(marks) >> 3; src[i] == '"' {
			d.pos = i + 1
			return alias(src[start:i]), true
		}
		break
	}
	d.pos--
	v := d.scanQuoted()
	if d.reason != "" {
		return "", false
	}
	text, reason := d.textOf(v)
	return text, reason == ""
}

// sameText reads a text that is usually equal to the text of the record before.
func (d *Decoder) sameText(s *step) bool {
	n := len(s.last.text)
	if n == 0 || !s.last.stands(d.src, d.pos) {
		return d.otherText(s)
	}
	d.pos += n
	switch s.form {
	case formOp:
		d.rec.Op = sample.Op(s.code)
	case formRead:
		d.rec.Read = sample.Consistency(s.code)
	default:
		*s.text = alias(s.last.text[:n-1])
	}
	return true
}

// nameFields are the fields that [sample.IsName] checks, placeFields those of [sample.IsPlace].
const (
	nameFields  fieldSet = 1<<fieldTable | 1<<fieldIndex
	placeFields fieldSet = 1<<fieldAccount | 1<<fieldRegion
)

// otherText reads a text that differs from the text of the record before. It accepts only
// sound names, so that sameText need not check a repeated name.
func (d *Decoder) otherText(s *step) bool {
	start := d.pos
	s.last.text = s.last.text[:0]
	text, ok := d.plainText()
	switch {
	case !ok, nameFields.has(s.field) && !sample.IsName(text), placeFields.has(s.field) && !sample.IsPlace(text):
		return false
	case s.form == formOp:
		d.rec.Op, ok = sample.ParseOp(text)
		s.code = uint8(d.rec.Op)
	case s.form == formRead:
		d.rec.Read, ok = sample.ParseConsistency(text)
		s.code = uint8(d.rec.Read)
	}
	if !ok && text != "" {
		return false
	}
	// A text with escapes differs in length from its JSON and is not compared.
	if len(text)+1 == d.pos-start && len(text) < maxLast {
		s.last.set(d.src[start:d.pos])
		text = alias(s.last.text[:len(text)])
	} else {
		d.inMessage = true
	}
	if s.form == formSame {
		*s.text = text
	}
	return true
}

// finish completes the record from its values, and reports whether it is sound.
func (d *Decoder) finish(has fieldSet, at int64) bool {
	r := &d.rec
	if gone := d.has &^ has; gone != 0 {
		d.forget(gone)
	}
	// These fields do not carry over from the record before.
	r.TimeFromMessage, r.Estimated = false, false
	if !has.has(fieldRead) {
		r.Read = sample.Eventual
	}
	if !has.has(fieldRate) {
		r.Rate = 1
	}
	if !has.has(fieldTime) || d.seen != 0 {
		if !d.finishRare(has, at) {
			return false
		}
	}
	if r.Op == sample.TransactGetItems {
		r.Read = sample.Transactional
	}
	if has&retryFields != 0 && !has.has(fieldAttempts) {
		return false
	}
	if d.estimate(has) != "" {
		return false
	}
	d.setRate(has)
	return r.CheckExceptNames() == "" // otherText has checked the names
}

// forget clears fields that the last record had and this one lacks, except the fields that
// finish sets.
func (d *Decoder) forget(gone fieldSet) {
	r := &d.rec
	for ; gone != 0; gone &= gone - 1 {
		switch f := field(bits.TrailingZeros32(uint32(gone))); f {
		case fieldPK:
			r.PK = sample.Key{}
		case fieldSK:
			r.SK = sample.Key{}
		case fieldOp:
			r.Op = sample.OpUnknown
		case fieldN:
			r.N = 1
		case fieldFailed:
			r.Failed = false
		case fieldAttrs:
			r.Attrs = nil
		default:
			d.shapes.places[f].empty()
		}
	}
}

// finishRare builds the fields that no step reads.
func (d *Decoder) finishRare(has fieldSet, at int64) bool {
	reason := sample.RejectReason("")
	if !has.has(fieldTime) || d.seen.has(fieldTime) {
		reason = d.buildTime(at)
	}
	if reason == "" && d.seen.has(fieldPK) {
		d.rec.PK, reason = d.key(fieldPK)
	}
	if reason == "" && d.seen.has(fieldSK) {
		d.rec.SK, reason = d.key(fieldSK)
	}
	if reason == "" && d.seen.has(fieldThrottle) {
		d.rec.Throttle, reason = d.text(fieldThrottle, sample.RejectBadText)
		d.inMessage = true
	}
	if reason == "" && d.seen.has(fieldFailed) {
		reason = d.buildFailed()
	}
	if reason == "" && d.seen.has(fieldAttrs) {
		d.rec.Attrs, reason = d.textMap(fieldAttrs)
	}
	return reason == ""
}
