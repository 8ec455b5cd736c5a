package keyheatjson

import (
	"encoding/binary"
	"math/bits"

	"github.com/keyheat/keyheat/sample"
)

// known reads an object of a known shape into the record, and moves behind it. It
// returns false where the whole decoder has to decide; the cursor is then where it was.
func (d *Decoder) known(at int64) bool {
	if !d.shapes.try() {
		return false
	}
	start := d.pos
	d.renew()
	d.begin()
	d.depth = 1
	d.seen, d.scratch = 0, d.scratch[:0]
	var has fieldSet
	for s := d.shapes.first; ; s = s.next {
		for s != nil && !s.stands(d.src, d.pos) {
			s = s.other
		}
		if s == nil {
			break
		}
		d.pos += len(s.before)
		if s.form == formEnd {
			if d.finish(has, at) {
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

// renew empties the record.
func (d *Decoder) renew() {
	if !d.empty {
		d.rec = sample.Record{}
	}
	d.rec.Rate, d.rec.N, d.empty = 1, 1, false
}

// read reads the value of a step, and moves behind it.
func (d *Decoder) read(s *step) bool {
	r := &d.rec
	var ok bool
	switch s.form {
	case formKey:
		k := &r.PK
		if s.field == fieldSK {
			k = &r.SK
		}
		k.Type = sample.TypeString
		k.Text, ok = d.plainText()
		return ok
	case formSame:
		return d.sameText(s)
	case formTime:
		r.Time, ok = d.readWhole(s.field)
		return ok
	case formMilli:
		amount := &r.WCU
		if s.field == fieldRCU {
			amount = &r.RCU
		}
		*amount, ok = d.readMilli(s.field)
		return ok
	case formWhole:
		var n int64
		n, ok = d.readWhole(s.field)
		switch s.field {
		case fieldBytes:
			r.Bytes = n
		case fieldN:
			r.N = n
		default:
			r.Attempts = n
			ok = ok && n > 0
		}
		return ok
	case formFloat:
		return d.sameNumber(s)
	case formText:
		text := &r.ID
		if s.field == fieldCall {
			text = &r.Call
		}
		*text, ok = d.plainText()
		return ok
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

// plainText reads the string whose text begins at the cursor.
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
	v := d.quoted()
	if d.reason != "" {
		return "", false
	}
	text, reason := d.textOf(v)
	return text, reason == ""
}

// sameText reads a text that is mostly that of the record before.
func (d *Decoder) sameText(s *step) bool {
	start, end := d.pos, d.pos+len(s.last)
	if len(s.last) > 0 && end <= len(d.src) && string(d.src[start:end]) == string(s.last) {
		d.pos = end
		d.setText(s, alias(d.src[start:end-1]))
		return true
	}
	text, ok := d.plainText()
	if !ok {
		return false
	}
	switch s.field {
	case fieldOp:
		op, known := sample.ParseOp(text)
		s.code, ok = uint8(op), known || text == ""
	case fieldRead:
		read, known := sample.ParseConsistency(text)
		s.code, ok = uint8(read), known || text == ""
	}
	// A text with escapes is shorter than it stands there, and is not compared.
	if s.last = s.last[:0]; ok && len(text)+1 == d.pos-start && len(text) < maxLast {
		s.last = append(s.last, d.src[start:d.pos]...)
	}
	d.setText(s, text)
	return ok
}

func (d *Decoder) setText(s *step, text string) {
	r := &d.rec
	switch s.field {
	case fieldTable:
		r.Table = text
	case fieldIndex:
		r.Index = text
	case fieldOp:
		r.Op = sample.Op(s.code)
	case fieldRead:
		r.Read = sample.Consistency(s.code)
	case fieldThrottle:
		r.Throttle = text
	case fieldCaller:
		r.Caller = text
	case fieldAccount:
		r.Account = text
	case fieldRegion:
		r.Region = text
	}
}

// finish makes of what was read a record, and reports whether it can be true.
func (d *Decoder) finish(has fieldSet, at int64) bool {
	r := &d.rec
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
	return d.estimate(has) == "" && d.judge(has) == ""
}

// finishRare builds what no step reads by itself.
func (d *Decoder) finishRare(has fieldSet, at int64) bool {
	reason := sample.Reason("")
	if !has.has(fieldTime) || d.seen.has(fieldTime) {
		reason = d.buildTime(at)
	}
	if reason == "" && d.seen.has(fieldPK) {
		d.rec.PK, reason = d.key(fieldPK)
	}
	if reason == "" && d.seen.has(fieldSK) {
		d.rec.SK, reason = d.key(fieldSK)
	}
	if reason == "" && d.seen.has(fieldFailed) {
		reason = d.buildFailed()
	}
	if reason == "" && d.seen.has(fieldAttrs) {
		d.rec.Attrs, reason = d.textMap(fieldAttrs)
	}
	return reason == ""
}
