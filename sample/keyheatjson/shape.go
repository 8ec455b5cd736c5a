package keyheatjson

import (
	"encoding/binary"

	"github.com/keyheat/keyheat/sample"
)

// A producer writes its records in few shapes: the same names in the same order, with the same
// white space. The decoder learns shapes from records that the slow path has read. A shape is a
// path in a tree of steps. Each step holds the text before a value and the way to read the
// value. In a record of a known shape the decoder examines only the values. The slow path reads
// every other record.

const (
	// maxSteps is the most steps that are kept. A record that finds the tree full clears it,
	// and a record that would overfill it is learned in part. maxOthers is the most steps that
	// may come at one position. maxBefore is the longest text that is kept before a value, such
	// as many nulls.
	maxSteps, maxOthers, maxBefore = 256, 8, 1 << 10
	// maxLessons is the most records in a row that are learned without being useful. Every
	// lessonHits records of known shapes allow one more.
	maxLessons, lessonHits = 32, 64
	// maxLast is the longest text that is compared with the next record's. It fits a caller
	// made of a role and its session.
	maxLast = 256
)

// form is the way to read a value.
type form uint8

const (
	formEnd     form = iota // no value: the object ends
	formIgnored             // any value of a name to ignore
	formAny                 // any value, read by the slow path
	formTime                // a whole number of milliseconds
	formWhole               // a whole number
	formMilli               // an amount of units
	formFloat               // a number, usually equal to the last record's
	formText                // a text
	formKey                 // a string key
	formSame                // a text, usually equal to the last record's
	formOp                  // an operation, usually equal to the last record's
	formRead                // a consistency, usually equal to the last record's
)

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

// isQuoted reports whether the text before the value ends with the value's quote.
func (f form) isQuoted() bool { return f >= formText }

// step is one value of a shape.
type step struct {
	before constant // text before the value, since the end of the value before
	field  field
	form   form
	// next is the first of the possible following steps, and other the next alternative to this
	// step.
	next, other *step
	place
	// last is the last record's JSON of the value, with the closing quote of a text, and number
	// or code is its meaning.
	last   constant
	number float64
	code   uint8
	// first is the first eight digits of the last record's time, and high their value.
	first uint64
	high  int64
}

// place points to a field's value in a record. At most one pointer is set, and none if the
// value needs more than one field.
type place struct {
	text  *string
	whole *int64
	milli *sample.Milli
	float *float64
}

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

// empty sets the value to zero.
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

// newStep returns a step for values of a record.
func newStep(before []byte, f field, form form, into *sample.Record) *step {
	s := &step{field: f, form: form, place: placeOf(f, into)}
	s.before.set(before)
	return s
}

// constant is a text for comparison with messages.
type constant struct {
	text []byte
	// head is the first eight bytes (fewer in the mask), and tail the last eight bytes of nine
	// or more.
	head, mask, tail uint64
}

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

// stands reports whether the text is at a position.
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

// shapes are the learned shapes.
type shapes struct {
	into  *sample.Record // the decoder's record
	first *step
	steps int
	// lessons is how many more records may be learned, hits the number of records of known
	// shapes, and misses the number of records since the last hit.
	lessons, hits, misses int
}

// tried is how many records in a row are tried without a hit. Later only one in `tried` is
// tried, because the producer may have no fixed shape.
const tried = 16

// try reports whether to try the next record.
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

// learn adds the shape of an object, unless it repeats a name.
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

// lesson is one object to learn from. It is sound JSON.
type lesson struct {
	cursor
	shapes *shapes
	at     **step // where to add the next step; nil if there is no room
	from   int    // start of the text before the next value
	seen   fieldSet
}

// member learns the next member, and returns false if it cannot.
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
	case v.kind == kindNull: // null counts as an absent name, so it belongs to the text before the next value
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

// step adds a step, unless it exists. The text before its value ends at `end`.
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
