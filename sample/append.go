package sample

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the record as one object of Keyheat JSON, without a line end: add "\n" for
// NDJSON. It leaves out defaults, units that a decoder would compute alike, and the time if the
// message has it. It replaces bytes that are not UTF-8 by U+FFFD.
//
// A record that passes Check decodes to itself, with one exception. Estimated units that cannot
// be computed again from operation, bytes and consistency are written out, and decode as
// reported units, because the load matters more.
func (r *Record) AppendJSON(dst []byte) []byte {
	w := objectWriter{dst: append(dst, '{')}
	if !r.TimeFromMessage {
		w.int("ts", r.Time)
	}
	w.text("table", r.Table)
	w.text("index", r.Index)
	w.key("pk", r.PK)
	w.key("sk", r.SK)
	w.text("op", r.Op.String())
	r.appendUnits(&w)
	if r.Bytes != 0 {
		w.int("bytes", r.Bytes)
	}
	if r.Read != Eventual {
		w.text("read", r.Read.String())
	}
	w.text("throttle", r.Throttle)
	if r.Rate != 1 {
		w.name("rate")
		w.dst = strconv.AppendFloat(w.dst, r.Rate, 'g', -1, 64)
	}
	if r.N != 1 {
		w.int("n", r.N)
	}
	if r.Calls != 0 {
		w.name("calls")
		w.dst = strconv.AppendFloat(w.dst, r.Calls, 'g', -1, 64)
	}
	if r.Attempts != 0 {
		w.int("attempts", r.Attempts)
	}
	if r.Waited != 0 {
		w.name("waited_ms")
		w.dst = strconv.AppendFloat(w.dst, r.Waited, 'g', -1, 64)
	}
	if r.Failed {
		w.name("failed")
		w.dst = append(w.dst, "true"...)
	}
	w.text("call", r.Call)
	w.text("caller", r.Caller)
	w.text("account", r.Account)
	w.text("region", r.Region)
	w.text("id", r.ID)
	w.attrs(r.Attrs)
	return append(w.dst, '}')
}

// StatedUnits returns which units an encoder must write so that a decoder finds them. These are
// the units above zero and the units of the operation, except estimates that
// [Record.CompleteUnits] repeats. Without an operation that reads or writes, it is at least one
// of the two.
func (r *Record) StatedUnits() (rcu, wcu bool) {
	readUnits, writeUnits, known := EstimateUnits(r.Op, r.Bytes, r.Read)
	reads, writes := r.Op.IsRead(), r.Op.IsWrite()
	rcu = (reads || r.RCU != 0) && !(r.Estimated && reads && r.RCU == readUnits)
	wcu = (writes || r.WCU != 0) && !(r.Estimated && writes && r.WCU == writeUnits)
	return rcu, wcu || !known && !rcu
}

func (r *Record) appendUnits(w *objectWriter) {
	rcu, wcu := r.StatedUnits()
	if rcu {
		w.milli("rcu", r.RCU)
	}
	if wcu {
		w.milli("wcu", r.WCU)
	}
}

// objectWriter appends the members of one JSON object.
type objectWriter struct {
	dst []byte
}

func (w *objectWriter) name(name string) {
	if w.dst[len(w.dst)-1] != '{' {
		w.dst = append(w.dst, ',')
	}
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, '"', ':')
}

func (w *objectWriter) int(name string, v int64) {
	w.name(name)
	w.dst = strconv.AppendInt(w.dst, v, 10)
}

// text leaves an empty text out.
func (w *objectWriter) text(name, text string) {
	if text != "" {
		w.name(name)
		w.dst = appendString(w.dst, text)
	}
}

// milli writes thousandths as units: 500 is 0.5.
func (w *objectWriter) milli(name string, v Milli) {
	w.name(name)
	if v < 0 {
		w.dst = append(w.dst, '-')
		v = -v
	}
	w.dst = strconv.AppendInt(w.dst, int64(v/1000), 10)
	if v %= 1000; v != 0 {
		w.dst = append(w.dst, '.', byte('0'+v/100), byte('0'+v/10%10), byte('0'+v%10))
		for w.dst[len(w.dst)-1] == '0' {
			w.dst = w.dst[:len(w.dst)-1]
		}
	}
}

// key writes a string key as a string, and any other key in DynamoDB's JSON.
func (w *objectWriter) key(name string, k Key) {
	switch len(k.Type) {
	case 0:
		return
	case 1:
		w.name(name)
		w.dst = appendAttribute(w.dst, k)
		return
	}
	w.name(name)
	w.dst = append(w.dst, '[')
	for i, part := range k.Parts() {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = appendAttribute(w.dst, part)
	}
	w.dst = append(w.dst, ']')
}

func appendAttribute(dst []byte, k Key) []byte {
	if k.Type == TypeString {
		return appendString(dst, k.Text)
	}
	dst = append(dst, '{')
	dst = appendString(dst, k.Type)
	dst = append(dst, ':')
	dst = appendString(dst, k.Text)
	return append(dst, '}')
}

// attrs writes attributes in the order of their names, so that equal records give equal lines.
func (w *objectWriter) attrs(attrs map[string]string) {
	if len(attrs) == 0 {
		return
	}
	w.name("attrs")
	w.dst = append(w.dst, '{')
	for i, name := range slices.Sorted(maps.Keys(attrs)) {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = appendString(w.dst, name)
		w.dst = append(w.dst, ':')
		w.dst = appendString(w.dst, attrs[name])
	}
	w.dst = append(w.dst, '}')
}

// appendString appends a JSON string. It escapes only the characters that JSON requires, line
// ends among them, so a record stays in its line.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		}
		i++
	}
	return append(dst, '"')
}
