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

// formOf returns the way to read a field's value of a kind, which belongs to a place.
func formOf(f field, k kind, at place) form {
	isText := k == kindString || k == kindEscaped
	switch {
	case isText && (f == fieldPK || f == fieldSK):
		return formKey
	case isText && f == fieldOp:
		return formOp
	case isText && f == fieldRead:
		return formRead
	case isText && (f == fieldCall || f == fieldID):
		return formText
	case isText && at.text != nil:
		return formSame
	case k != kindNumber:
		return formAny
	case f == fieldTime:
		return formTime
	case at.whole != nil:
		return formWhole
	case at.milli != nil:
		return formMilli
	case at.float != nil:
		return formFloat
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

// placesOf returns the places of a record's fields.
func placesOf(r *sample.Record) *[fieldCount + 1]place {
	return &[fieldCount + 1]place{
		fieldTime: {whole: &r.Time}, fieldTable: {text: &r.Table}, fieldIndex: {text: &r.Index},
		fieldPK: {text: &r.PK.Text}, fieldSK: {text: &r.SK.Text}, fieldRCU: {milli: &r.RCU}, fieldWCU: {milli: &r.WCU},
		fieldBytes: {whole: &r.Bytes}, fieldThrottle: {text: &r.Throttle}, fieldRate: {float: &r.Rate}, fieldN: {whole: &r.N},
		fieldCalls: {float: &r.Calls}, fieldAttempts: {whole: &r.Attempts}, fieldWaited: {float: &r.Waited},
		fieldConflict: {whole: &r.Conflicts}, fieldConditionFailed: {whole: &r.ConditionsFailed},
		fieldCall: {text: &r.Call}, fieldCaller: {text: &r.Caller}, fieldAccount: {text: &r.Account}, fieldRegion: {text: &r.Region},
		fieldID: {text: &r.ID},
	}
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
	places *[fieldCount + 1]place // of the decoder's record; the last one is none
	first  *step
	steps  int
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
		form := formOf(f, v.kind, l.shapes.places[f])
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
	s := &step{field: f, form: form, place: l.shapes.places[f]}
	s.before.set(before)
	*l.at, l.at = s, &s.next
	l.shapes.steps++
}
