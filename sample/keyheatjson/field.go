package keyheatjson

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/keyheat/keyheat/sample"
)

// field is one of the names that a record may have.
type field uint8

const (
	fieldTime field = iota
	fieldTable
	fieldIndex
	fieldPK
	fieldSK
	fieldOp
	fieldRCU
	fieldWCU
	fieldBytes
	fieldRead
	fieldThrottle
	fieldRate
	fieldN
	fieldCalls
	fieldAttempts
	fieldWaited
	fieldFailed
	fieldConflict
	fieldConditionFailed
	fieldCall
	fieldCaller
	fieldAccount
	fieldRegion
	fieldID
	fieldAttrs
	fieldCount
)

// fieldSet is a set of fields, one bit each.
type fieldSet uint32

func (s fieldSet) has(f field) bool { return s&(1<<f) != 0 }

// parseField returns the field with a name, or false for a name to ignore.
func parseField(name string) (field, bool) {
	switch name {
	case "ts":
		return fieldTime, true
	case "table":
		return fieldTable, true
	case "index":
		return fieldIndex, true
	case "pk":
		return fieldPK, true
	case "sk":
		return fieldSK, true
	case "op":
		return fieldOp, true
	case "rcu":
		return fieldRCU, true
	case "wcu":
		return fieldWCU, true
	case "bytes":
		return fieldBytes, true
	case "read":
		return fieldRead, true
	case "throttle":
		return fieldThrottle, true
	case "rate":
		return fieldRate, true
	case "n":
		return fieldN, true
	case "calls":
		return fieldCalls, true
	case "attempts":
		return fieldAttempts, true
	case "waited_ms":
		return fieldWaited, true
	case "failed":
		return fieldFailed, true
	case "conflict":
		return fieldConflict, true
	case "condition_failed":
		return fieldConditionFailed, true
	case "call":
		return fieldCall, true
	case "caller":
		return fieldCaller, true
	case "account":
		return fieldAccount, true
	case "region":
		return fieldRegion, true
	case "id":
		return fieldID, true
	case "attrs":
		return fieldAttrs, true
	}
	return 0, false
}

// members checks the object at the cursor as cursor.object does, and notes its fields. The last
// value of a repeated name counts, and null counts as absent.
func (d *Decoder) members() {
	d.enter()
	d.blank()
	if d.take('}') {
		return
	}
	for d.reason == "" {
		f, known := d.name()
		if d.reason != "" {
			return
		}
		v := d.value()
		switch {
		case !known:
		case v.kind == kindNull:
			d.seen &^= 1 << f
		default:
			d.given[f] = v
			d.seen |= 1 << f
		}
		if d.reason != "" || d.closes('}') {
			return
		}
		d.blank()
	}
}

// name reads a member's name and its colon. In compact JSON most names have up to seven
// letters, so a search in eight bytes finds their end.
func (d *Decoder) name() (field, bool) {
	src, i := d.src, d.pos+1
	if i+9 <= len(src) && src[i-1] == '"' {
		marks := special(binary.LittleEndian.Uint64(src[i:]))
		end := i + bits.TrailingZeros64(marks)>>3
		if marks != 0 && src[end] == '"' && src[end+1] == ':' {
			d.pos = end + 2
			d.blank()
			return parseField(alias(src[i:end]))
		}
	}
	return d.anyName()
}

func (d *Decoder) anyName() (field, bool) {
	v := d.scanQuoted()
	d.blank()
	if !d.take(':') {
		d.fail(sample.RejectSyntax)
	}
	if d.reason != "" {
		return 0, false
	}
	d.blank()
	text, reason := d.textOf(v)
	if reason != "" {
		return 0, false // half a surrogate pair is in no known name
	}
	return parseField(text)
}

// textOf returns the text of a JSON string. It aliases the message, or the scratch memory if
// the string has escapes.
func (d *Decoder) textOf(v value) (string, sample.RejectReason) {
	if v.kind == kindString {
		return alias(d.src[v.start:v.end]), ""
	}
	start := len(d.scratch)
	var ok bool
	if d.scratch, ok = appendUnescaped(d.scratch, d.src[v.start:v.end]); !ok {
		return "", sample.RejectBadUTF8
	}
	return alias(d.scratch[start:]), ""
}

// alias returns the bytes as a string without a copy. Nothing writes to them while the string
// is in use: the message is stable until Decode returns, and scratch only grows within a
// record. (Growing moves scratch, and leaves older strings unchanged.)
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // see above
