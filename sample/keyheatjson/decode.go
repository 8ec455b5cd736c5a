// Package keyheatjson reads Keyheat JSON, the format of sampled requests.
// [sample.Record.AppendJSON] writes it:
//
//	{"ts":1763692032185,"table":"orders","pk":"user#42","op":"UpdateItem","wcu":2,"rate":0.01}
//
// A wrong record is a bad sample with a reject reason, and does not affect the records beside
// it.
package keyheatjson

import (
	"bytes"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
)

// Decoder reads Keyheat JSON. It is for one goroutine. Reuse it: it then allocates nothing for
// a plain record. The strings of its records alias the message or the decoder's scratch memory.
type Decoder struct {
	cursor
	// given are the values of the record's fields, and seen is the set of these fields.
	given [fieldCount]value
	seen  fieldSet
	rec   sample.Record
	// content describes rec. For a record of a known shape, `has` is the set of its fields.
	// inMessage means that other texts than keys and ids alias the message.
	content   content
	has       fieldSet
	inMessage bool
	// shapes are the known shapes of records.
	shapes shapes
	// scratch holds texts whose JSON has escapes.
	scratch []byte
	attrs   map[string]string
	rates   map[string]float64
}

// NewDecoder returns a Decoder.
func NewDecoder() *Decoder {
	d := &Decoder{attrs: make(map[string]string), shapes: shapes{lessons: maxLessons}}
	d.shapes.places = placesOf(&d.rec)
	return d
}

// SetRates sets the sampling rates of tables, in (0,1], for records without a rate of their
// own. The names are those of [sample.LookupNames]. The default rate is 1.
func (d *Decoder) SetRates(rates map[string]float64) { d.rates = rates }

// Decode reads every record in one message: one object, an array of objects, or NDJSON. A
// record without ts takes the message's own time, at, in Unix milliseconds. If at is 0 or less,
// such a record is a bad sample.
//
// Bad records do not affect the good ones beside them. After an object that is not JSON, Decode
// continues with the next line. If that object is spread over lines (nothing follows the brace
// in its first line), it continues with the next line that begins with a brace. A broken
// element ends its array.
func (d *Decoder) Decode(message []byte, at int64, h sample.Handler) {
	d.src, d.pos = message, 0
	if len(message) > 0 && message[0] == byteOrderMark[0] {
		d.src = bytes.TrimPrefix(message, byteOrderMark)
	}
	d.blank()
	if d.pos == len(d.src) {
		h.Bad(sample.RejectEmpty, nil)
	}
	for d.pos < len(d.src) {
		switch d.src[d.pos] {
		case '{':
			d.line(at, h)
		case '[':
			d.list(at, h)
		default:
			d.stray(h)
		}
		d.blank()
	}
	d.src = nil
	d.letGo()
	d.clearAttrs()
	if cap(d.scratch) > keptScratch {
		d.scratch = nil
	}
}

const (
	// keptScratch is the most scratch memory in bytes that is kept for the next message.
	keptScratch = 64 << 10
	// keptAttrs is the largest map of attributes that is kept for the next record.
	keptAttrs = 1 << 10
)

// clearAttrs forgets the attributes of the last record. A map does not shrink, so it replaces a
// large one.
func (d *Decoder) clearAttrs() {
	switch n := len(d.attrs); {
	case n > keptAttrs:
		d.attrs, d.rec.Attrs = make(map[string]string), nil
	case n > 0:
		clear(d.attrs)
	}
}

// byteOrderMark is the first bytes of files from some Windows programs.
var byteOrderMark = []byte("\xef\xbb\xbf")

// line reads an object. Only another object may follow in its line.
func (d *Decoder) line(at int64, h sample.Handler) {
	start := d.pos
	known := d.isKnownTime(at)
	if !known && !d.scan() {
		d.bad(h, start, d.behindObject(start))
		return
	}
	end := d.pos
	if d.inline(); d.pos < len(d.src) && d.src[d.pos] != '{' && d.src[d.pos] != '\n' {
		d.fail(sample.RejectSyntax)
		d.bad(h, start, d.nextLine(end))
		return
	}
	if known {
		h.Record(&d.rec)
		return
	}
	d.emit(start, end, at, h)
}

func (d *Decoder) list(at int64, h sample.Handler) {
	opened := d.pos
	d.pos++
	for first := true; ; first = false {
		d.blank()
		if first && d.take(']') {
			return
		}
		start := d.pos
		if !d.element(at, h) {
			d.bad(h, start, d.behindArray(opened, start))
			return
		}
		start = d.pos
		if d.closes(']') {
			if d.reason != "" {
				d.bad(h, start, d.behindArray(opened, start))
			}
			return
		}
	}
}

// element reads one element of an array, and returns false if it is not JSON.
func (d *Decoder) element(at int64, h sample.Handler) bool {
	start := d.pos
	if start < len(d.src) && d.src[start] == '{' {
		if d.isKnownTime(at) {
			h.Record(&d.rec)
			return true
		}
		if !d.scan() {
			return false
		}
		d.emit(start, d.pos, at, h)
		return true
	}
	d.begin()
	if d.value(); d.reason != "" {
		return false
	}
	h.Bad(sample.RejectNotObject, d.excerpt(start, d.pos))
	return true
}

// stray reads a line that begins with neither an object nor an array.
func (d *Decoder) stray(h sample.Handler) {
	start := d.pos
	d.begin()
	if d.value(); d.reason == "" {
		d.inline()
		if d.pos == len(d.src) || d.src[d.pos] == '\n' {
			d.fail(sample.RejectNotObject)
		} else {
			d.fail(sample.RejectSyntax)
		}
	}
	d.bad(h, start, d.nextLine(start))
}

// scan checks the object at the cursor and notes its fields. It returns false if it is not
// JSON.
func (d *Decoder) scan() bool {
	d.begin()
	d.seen = 0
	d.scratch = d.scratch[:0]
	d.members()
	return d.reason == ""
}

func (d *Decoder) begin() { d.reason, d.depth = "", 0 }

// emit builds a record from the noted fields, and passes it on.
func (d *Decoder) emit(start, end int, at int64, h sample.Handler) {
	if reason := d.build(at); reason != "" {
		h.Bad(reason, d.excerpt(start, end))
		return
	}
	d.shapes.learn(d.src[start:end])
	h.Record(&d.rec)
}

// bad reports a bad sample that begins at start, and continues at next.
func (d *Decoder) bad(h sample.Handler, start, next int) {
	h.Bad(d.reason, d.excerpt(start, next))
	d.begin()
	d.pos = next
}

// excerpt returns the beginning of a text, without line ends behind it.
func (d *Decoder) excerpt(start, end int) []byte {
	return bytes.TrimRight(frame.Excerpt(d.src[start:end]), "\r\n")
}

// inline skips white space within the line.
func (d *Decoder) inline() {
	for d.pos < len(d.src) && d.src[d.pos] != '\n' && isBlank(d.src[d.pos]) {
		d.pos++
	}
}

func (d *Decoder) nextLine(from int) int { return from + frame.NextLine(d.src[from:]) }

// behindObject returns the position to continue from after a broken object.
func (d *Decoder) behindObject(start int) int {
	next := d.nextLine(start)
	if len(bytes.TrimRight(d.src[start:next], " \t\r\n")) == 1 {
		return next + frame.LineWith('{', d.src[next:])
	}
	return next
}

// behindArray returns the position to continue from after a broken element of an array. It
// skips the elements in the following lines, because they belong to the array.
func (d *Decoder) behindArray(opened, element int) int {
	next := d.nextLine(element)
	if d.nextLine(opened) == next {
		return next
	}
	return next + frame.LineWith('[', d.src[next:])
}
