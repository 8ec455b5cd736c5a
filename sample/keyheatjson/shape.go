package keyheatjson

import (
	"encoding/binary"
)

// A producer writes its records in one of few shapes: the same names in the same order,
// with the same white space. Shapes are learned of records that the whole decoder has
// read, as a tree of steps: what stands before a value, and how the value is read. In a
// record of a known shape only the values have to be looked at. Whatever is not as it
// was learned is read by the whole decoder.

const (
	// maxSteps is how many steps are kept; with more all are forgotten. maxOthers is how
	// many steps may come in one place.
	maxSteps, maxOthers = 256, 8
	// maxLessons is how many records may be learned of in a row that are no use: records
	// of known shapes earn others, one for lessonHits.
	maxLessons, lessonHits = 32, 64
	// maxLast is the length of a text up to which it is compared with the next one.
	maxLast = 64
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
	formSame                // a text, mostly that of the record before
	formKey                 // a string key
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
		case fieldTime:
			return formAny
		}
		return formSame
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

// quoted reports whether what stands before the value ends with its quote.
func (f form) quoted() bool { return f >= formText }

// step is one value of a shape.
type step struct {
	before string // what stands before the value, from the end of the one before on
	// head are the first bytes of before, up to eight, in the mask.
	head, mask uint64
	field      field
	form       form
	// next is the first of the steps that may follow, other the next one that may come in
	// this one's place.
	next, other *step
	// last is the value's text in the record before, with the quote that ends it, and
	// number or code what it was read as.
	last   []byte
	number float64
	code   uint8
}

func newStep(before string, f field, form form) *step {
	s := &step{before: before, field: f, form: form, mask: ^uint64(0)}
	var head [8]byte
	if n := copy(head[:], before); n < len(head) {
		s.mask >>= 64 - 8*n
	}
	s.head = binary.LittleEndian.Uint64(head[:])
	return s
}

// stands reports whether the step's text stands there.
func (s *step) stands(src []byte, pos int) bool {
	n := len(s.before)
	if pos+8 <= len(src) {
		if binary.LittleEndian.Uint64(src[pos:])&s.mask != s.head {
			return false
		}
		if n <= 8 {
			return true
		}
	}
	return pos+n <= len(src) && string(src[pos:pos+n]) == s.before
}

// shapes are those that were learned.
type shapes struct {
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
	name := l.quoted()
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
		if form.quoted() {
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
	for others := 0; *l.at != nil; others++ {
		if s := *l.at; s.before == string(before) && s.field == f && s.form == form {
			l.at = &s.next
			return
		}
		if others == maxOthers {
			l.at = nil
			return
		}
		l.at = &(*l.at).other
	}
	*l.at = newStep(string(before), f, form)
	l.at = &(*l.at).next
	l.shapes.steps++
}
