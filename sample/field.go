package sample

import "unsafe"

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

// parseField finds the field of that name, and false for a name to ignore.
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

// see notes one member of the record's object. Of a name given twice the last
// counts, and null is as if the name were absent.
func (d *Decoder) see(name, v value) {
	text, reason := d.textOf(name)
	if reason != "" {
		return // no name of ours
	}
	f, ok := parseField(text)
	if !ok {
		return
	}
	if v.kind == kindNull {
		d.seen &^= 1 << f
		return
	}
	d.given[f] = v
	d.seen |= 1 << f
}

// textOf is a JSON string's text, which aliases the message when it is there
// as it is, and the scratch memory when it had escapes.
func (d *Decoder) textOf(v value) (string, Reason) {
	if v.kind == kindString {
		return alias(d.src[v.start:v.end]), ""
	}
	start := len(d.scratch)
	var ok bool
	if d.scratch, ok = appendUnescaped(d.scratch, d.src[v.start:v.end]); !ok {
		return "", ReasonBadUTF8
	}
	return alias(d.scratch[start:]), ""
}

// alias is the bytes as a string without a copy. Nothing writes to them while
// the string is in use: the message is the caller's until Decode returns, and
// scratch only grows within a record. (Growing moves it, which leaves what
// older strings see as it was.)
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
