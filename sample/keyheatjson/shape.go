package keyheatjson

import (
	"encoding/binary"

	"github.com/keyheat/keyheat/sample"
)

// A producer writes its records in one of few shapes: the same names in the same order,
// with the same white space. Shapes are learned of records that the whole decoder has
// read, as a tree of steps: what stands before a value, and how the value is read. In a
// record of a known shape only the values have to be looked at. Whatever is not as it
// was learned is read by the whole decoder.

const (
	// maxSteps is how many steps are kept; a record that finds as many has all forgotten, and
	// one that would make more ends there. maxOthers is how many steps may come in one
	// place. maxBefore is the longest text that is kept before a value: that of many nulls.
	maxSteps, maxOthers, maxBefore = 256, 8, 1 << 10
	// maxLessons is how many records may be learned of in a row that are no use: records
	// of known shapes earn others, one for lessonHits.
	maxLessons, lessonHits = 32, 64
	// maxLast is the length of a text up to which it is compared with the next one: that
	// of a caller, which may be the name of a role and its session.
	maxLast = 256
)

// form is how a value is read.
type form uint8

const (
	formEnd     form = iota // there is none: the object ends
	formIgnored             // any value, of a name to ignore
	formAny                 // any value, left to what builds records of fields
	formTime                // a whole number of milliseconds
	formWhole               // a whole number
	formMilli               // an amount of units
	formFloat               // a number, mostly that of the record before
	formText                // a text
	formKey                 // a string key
	formSame                // a text, mostly that of the record before
	formOp                  // the name of an operation, mostly that of the record before
	formRead                // the name of a consistency, mostly that of the record before
)

// formOf returns how a field's value is read which was of that kind.
func formOf(f field, k kind) form {
	switch k {
	case kindString, kindEscaped:
		switch f {
		case fieldPK, fieldSK:
			return formKey
		case fieldCall, fieldID:
			return formText
		case fieldOp:
			return formOp
		case fieldRead:
			return formRead
		case fieldTable, fieldIndex, fieldThrottle, fieldCaller, fieldAccount, fieldRegion:
			return formSame
		}
	case kindNumber:
		switch f {
		case fieldTime:
			return formTime
		case fieldBytes, fieldN, fieldAttempts:
			return formWhole
		case fieldRCU, fieldWCU:
			return formMilli
		case fieldRate, fieldCalls, fieldWaited:
			return formFloat
		}
	}
	return formAny
}

// isQuoted reports whether what stands before the value ends with its quote.
func (f form) isQuoted() bool { return f >= formText }

// step is one value of a shape.
type step struct {
	before constant // what stands before the value, from the end of the one before on
	field  field
	form   form
	// next is the first of the steps that may follow, other the next one that may come in
	// this one's place.
	next, other *step
	place
	// last is the value's text in the record before, with the quote that ends a text, and
	// number or code what it was read as.
	last   constant
	number float64
	code   uint8
	// first are the first eight digits of the time in the record before, and high their
	// value.
	first uint64
	high  int64
}

// place is where in a record a field's value belongs: at most one is not nil, and none where
// a value is more than what stands there.
type place struct {
	text  *string
	whole *int64
	milli *sample.Milli
	float *float64
}

// placeOf returns the place of a field.
func placeOf(f field, into *sample.Record) (p place) {
	switch f {
	case fieldTime:
		p.whole = &into.Time
	case fieldTable:
		p.text = &into.Table
	case fieldIndex:
		p.text = &into.Index
	case fieldPK:
		p.text = &into.PK.Text
	case fieldSK:
		p.text = &into.SK.Text
	case fieldRCU:
		p.milli = &into.RCU
	case fieldWCU:
		p.milli = &into.WCU
	case fieldBytes:
		p.whole = &into.Bytes
	case fieldThrottle:
		p.text = &into.Throttle
	case fieldRate:
		p.float = &into.Rate
	case fieldN:
		p.whole = &into.N
	case fieldCalls:
		p.float = &into.Calls
	case fieldAttempts:
		p.whole = &into.Attempts
	case fieldWaited:
		p.float = &into.Waited
	case fieldCall:
		p.text = &into.Call
	case fieldCaller:
		p.text = &into.Caller
	case fieldAccount:
		p.text = &into.Account
	case fieldRegion:
		p.text = &into.Region
	case fieldID:
		p.text = &into.ID
	}
	return p
}

// empty makes the value there zero.
func (p place) empty() {
	switch {
	case p.text != nil:
		*p.text = ""
	case p.whole != nil:
		*p.whole = 0
	case p.milli != nil:
		*p.milli = 0
	case p.float != nil:
		*p.float = 0
	}
}

// newStep returns a step whose values belong into a record.
func newStep(before []byte, f field, form form, into *sample.Record) *step {
	s := &step{field: f, form: form, place: placeOf(f, into)}
	s.before.set(before)
	return s
}

// constant is a text to compare with what stands in messages.
type constant struct {
	text []byte
	// head are its first bytes, up to eight, in the mask; tail the last eight, of nine or
	// more.
	head, mask, tail uint64
}

// set makes it another text.
func (c *constant) set(text []byte) {
	c.text = append(c.text[:0], text...)
	c.mask = ^uint64(0)
	var head [8]byte
	if n := copy(head[:], text); n < len(head) {
		c.mask >>= 64 - 8*n
	} else {
		c.tail = binary.LittleEndian.Uint64(text[len(text)-8:])
	}
	c.head = binary.LittleEndian.Uint64(head[:])
}

// stands reports whether the text stands there.
func (c *constant) stands(src []byte, pos int) bool {
	n := len(c.text)
	if pos+8 <= len(src) {
		if (binary.LittleEndian.Uint64(src[pos:])^c.head)&c.mask != 0 {
			return false
		}
		if n <= 8 {
			return true
		}
		if n <= 16 {
			return pos+n <= len(src) && binary.LittleEndian.Uint64(src[pos+n-8:]) == c.tail
		}
	}
	return pos+n <= len(src) && string(src[pos:pos+n]) == string(c.text)
}

// shapes are those that were learned.
type shapes struct {
	into  *sample.Record // the decoder's
	first *step
	steps int
	// lessons is how many records may be learned of, hits how many records had a known
	// shape, misses how many had none since the last one that had.
	lessons, hits, misses int
}

// tried is how many records in a row are tried that have no known shape; then one in as
// many is: a producer may have none.
const tried = 16

// try reports whether a record should be tried.
func (s *shapes) try() bool {
	s.misses++
	return s.first != nil && (s.misses <= tried || s.misses%tried == 0)
}

// hit counts a record of a known shape.
func (s *shapes) hit() {
	s.misses = 0
	if s.hits++; s.hits%lessonHits == 0 {
		s.lessons = min(s.lessons+1, maxLessons)
	}
}

// learn adds the shape of an object that was read, unless it gives a name twice.
func (s *shapes) learn(object []byte) {
	if s.lessons == 0 {
		return
	}
	s.lessons--
	if s.steps >= maxSteps {
		s.first, s.steps = nil, 0
	}
	l := lesson{cursor: cursor{src: object}, shapes: s, at: &s.first}
	l.enter()
	l.blank()
	if l.take('}') {
		return
	}
	for l.member() && !l.closes('}') {
		l.blank()
	}
	l.step(l.pos, fieldCount, formEnd)
}

// lesson is one object that is learned of. It is sound JSON.
type lesson struct {
	cursor
	shapes *shapes
	at     **step // where the next step belongs; nil when there is no room
	from   int    // where what stands before it begins
	seen   fieldSet
}

// member learns the next member, and returns false where that cannot be.
func (l *lesson) member() bool {
	name := l.scanQuoted()
	l.blank()
	l.take(':')
	l.blank()
	f, known := parseField(string(l.src[name.start:name.end]))
	if name.kind != kindString || known && l.seen.has(f) {
		l.at = nil
		return false
	}
	start := l.pos
	v := l.value()
	if known {
		l.seen |= 1 << f
	}
	switch {
	case v.kind == kindNull: // as if the name were absent: it stands before the next one
	case !known:
		l.step(start, fieldCount, formIgnored)
		l.from = l.pos
	default:
		form := formOf(f, v.kind)
		if form.isQuoted() {
			start++
		}
		l.step(start, f, form)
		l.from = l.pos
	}
	return l.at != nil
}

// step adds a step before whose value the text ends there, unless it is known.
func (l *lesson) step(end int, f field, form form) {
	if l.at == nil {
		return
	}
	before := l.src[l.from:end]
	if len(before) > maxBefore {
		l.at = nil
		return
	}
	for others := 0; *l.at != nil; others++ {
		if s := *l.at; string(s.before.text) == string(before) && s.field == f && s.form == form {
			l.at = &s.next
			return
		}
		if others == maxOthers {
			l.at = nil
			return
		}
		l.at = &(*l.at).other
	}
	if l.shapes.steps == maxSteps {
		l.at = nil
		return
	}
	*l.at = newStep(before, f, form, l.shapes.into)
	l.at = &(*l.at).next
	l.shapes.steps++
}
