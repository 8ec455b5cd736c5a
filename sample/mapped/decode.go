package mapped

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// Reject reasons beside the ones of [keyheatjson].
const (
	// RejectRow rejects a row of CSV or TSV with more or fewer columns than the line of names,
	// or with a quote within a field.
	RejectRow sample.RejectReason = "bad_row"
	// RejectQuote rejects a line of CSV with a quote that does not end, within [MaxRow] bytes
	// or before another row.
	RejectQuote sample.RejectReason = "bad_quote"
	// RejectElement rejects an element without a sample, in a list that has samples.
	RejectElement sample.RejectReason = "no_sample"
)

// layout is the structure of a file with samples.
type layout int

const (
	unknown layout = iota
	objects        // JSON, in lines or not, alone or behind other text
	rows           // CSV or TSV under a line of names
)

// Decoder reads the messages of one file after another. It is for one goroutine.
type Decoder struct {
	mapping Mapping
	rules   []rule
	inner   *keyheatjson.Decoder
	relay   relay

	layout  layout
	columns Columns
	at      []cell   // position of each rule's value
	before  []byte   // the text before the object in its line
	whole   []byte   // the line, where the object is only a part of it
	times   []string // the layouts of times that are texts
	commas  bool     // a row has a decimal comma
	buf     []byte
	known   func(Object, sample.Handler) bool
}

// NewDecoder returns a decoder for a valid mapping. [keyheatjson.Decoder.SetRates] explains
// rates.
func NewDecoder(m Mapping, rates map[string]float64) *Decoder {
	d := &Decoder{mapping: m, rules: m.rules(), inner: keyheatjson.NewDecoder(), times: knownTimes}
	if m.Layout != "" {
		d.times, _ = compileLayout(m.Layout) // the mapping is valid
	}
	d.inner.SetRates(rates)
	return d
}

// SetKnown sets what takes objects that the mapping does not fit, because they are samples of
// another form.
func (d *Decoder) SetKnown(known func(Object, sample.Handler) bool) { d.known = known }

// Begin begins another file, which may have another layout.
func (d *Decoder) Begin() { d.layout, d.columns, d.commas = unknown, Columns{}, false }

// Columns returns the file's columns, or none for JSON.
func (d *Decoder) Columns() Columns { return d.columns }

// FieldName returns the files' name of a Keyheat JSON field, or the field's own name without a
// mapping.
func (d *Decoder) FieldName(field string) string {
	for i := range d.rules {
		if r := &d.rules[i]; r.name == field && r.path != "" {
			return r.path
		}
	}
	return field
}

// Value returns a field's text in a line or row of the current file, or "".
func (d *Decoder) Value(line []byte, field string) string {
	at := slices.IndexFunc(d.rules, func(r rule) bool { return r.name == field && r.path != "" })
	switch {
	case at < 0:
		return ""
	case d.rules[at].path == begin:
		object := objectIn(line)
		return string(line[:max(0, bytes.Index(line, object))])
	case d.layout != rows:
		return Value(line, d.rules[at].path)
	}
	row, ok := d.columns.cells(line)
	if !ok || len(row) != len(d.columns.Names) {
		return ""
	}
	return textIn(d.at[at].value(row))
}

// Value returns the text at a path in the first object of a line that has it, or "".
func Value(line []byte, path string) (text string) {
	object := valueIn(line)
	if object == nil {
		object = logfmtIn(line)
	}
	Open(object, func(o Object) bool {
		text = textIn(lookup(o.Members, path))
		return text != ""
	}, func(json.RawMessage) {})
	return text
}

func textIn(value json.RawMessage) string {
	if value == nil {
		return ""
	}
	text, _ := textOf(value)
	return text
}

// Decode reads every sample in one message: whole lines, an object, or an array of objects. It
// ignores the message's time, so a sample without a time is a bad one.
func (d *Decoder) Decode(message []byte, _ int64, h sample.Handler) {
	d.relay.Handler = h
	defer func() { d.relay = relay{} }()
	if d.layout == unknown {
		message = d.recognise(message)
	}
	switch {
	case d.layout == rows:
		d.rows(message)
	case json.Valid(message): // one value, which may span lines
		d.frames(message)
	default:
		d.each(message, d.line)
	}
}

// recognise determines the layout from the first line, and returns the text behind the line of
// names.
func (d *Decoder) recognise(message []byte) []byte {
	d.layout = objects
	message = message[Preamble(message):]
	first, rest, _ := bytes.Cut(bytes.TrimLeft(message, "\ufeff\r\n"), []byte("\n"))
	columns, ok := ColumnsOf(first)
	if !ok || !d.names(columns) {
		return message
	}
	d.layout, d.columns = rows, columns
	d.commas = columns.Separator == ';' && decimalComma.Match(rest)
	d.at = d.at[:0]
	for i := range d.rules {
		d.at = append(d.at, columns.find(d.rules[i].path))
	}
	return rest
}

// names reports whether a line of columns has a mapped name or a key.
func (d *Decoder) names(c Columns) bool {
	for i := range d.rules {
		if r := &d.rules[i]; (r.said || r.name == "pk") && r.path != "" && c.find(r.path).column >= 0 {
			return true
		}
	}
	return false
}

// HasHeader reports whether a text begins with a line of column names that are fields of
// Keyheat JSON. The rows below it then need no mapping.
func HasHeader(text []byte) bool {
	line, _, _ := bytes.Cut(text[Preamble(text):], []byte("\n"))
	c, ok := ColumnsOf(line)
	return ok && slices.Contains(c.Names, "pk") && slices.Contains(c.Names, "ts")
}

// each calls do for every line of a message that is not blank.
func (d *Decoder) each(message []byte, do func(line []byte)) {
	for len(message) > 0 {
		n := frame.NextLine(message)
		if line := bytes.Trim(message[:n], " \r\n"); len(line) > 0 {
			do(line)
		}
		message = message[n:]
	}
}

// line reads a line of JSON, alone or with other text around it, or of logfmt.
func (d *Decoder) line(line []byte) {
	object := valueIn(line)
	if object == nil {
		if object = logfmtIn(line); object != nil {
			d.before = line[:bytes.IndexByte(line, '=')]
		}
	} else {
		d.before = line[:max(0, bytes.Index(line, object))]
	}
	if object != nil {
		d.whole, line = line, object
	}
	d.frames(line) // frames reports the reject reason
	d.before, d.whole = nil, nil
}

func (d *Decoder) frames(text []byte) { frame.Each(text, d.relay.Handler, d.object) }

// object reads the samples in an object: itself, or what is in it.
func (d *Decoder) object(raw []byte) {
	line := raw
	if d.whole != nil {
		line = d.whole
	}
	var top map[string]json.RawMessage
	taken := Open(raw, func(o Object) bool {
		if top == nil {
			top = o.Members
		}
		return d.take(line, o)
	}, func(json.RawMessage) { d.relay.Handler.Bad(RejectElement, frame.Excerpt(line)) })
	if !taken { // it is told what it lacks
		d.emit(line, func(i int) json.RawMessage { return lookup(top, d.rules[i].path) })
	}
}

// take reads an object that has a key and a time, or is of a known form.
func (d *Decoder) take(line []byte, o Object) bool {
	needed := 0
	for i := range d.rules {
		r := &d.rules[i]
		if (r.name == "pk" || r.name == "ts") && (r.path == "" || r.path == begin && len(d.before) > 0 || lookup(o.Members, r.path) != nil) {
			needed++
		}
	}
	switch {
	case needed == 2:
		d.emit(line, func(i int) json.RawMessage { return lookup(o.Members, d.rules[i].path) })
		return true
	case d.known == nil:
		return false
	}
	d.relay.line = line
	return d.known(o, &d.relay)
}

// emit converts a line to Keyheat JSON and passes it on. value returns the line's value for a
// rule that is not a constant.
func (d *Decoder) emit(line []byte, value func(rule int) json.RawMessage) {
	dst, hasTable := append(d.buf[:0], '{'), false
	attrs := []byte(nil)
	var units json.RawMessage
	var op sample.Op
	for i := range d.rules {
		r := &d.rules[i]
		var raw json.RawMessage
		switch r.path {
		case "":
			raw = appendText(nil, r.fixed)
		case begin:
			raw = d.timeBefore()
		default:
			raw = value(i)
		}
		switch {
		case raw == nil:
		case isAttribute(r.name):
			attrs = append(appendText(append(attrs, ','), r.name[len(attribute):]), ':')
			attrs = d.appendValue(attrs, r.kind, raw)
		case r.kind == kindUnits:
			units = raw
		case r.kind == kindThrottle && lostField(raw) != "": // it is no throttle
			dst = d.appendField(dst, lostField(raw), kindNumber, d.requests(value))
		default:
			hasTable = hasTable || r.name == "table"
			if r.kind == kindOp {
				text, _ := textOf(raw)
				op, _ = sample.ParseOp(operation(text))
			}
			dst = d.appendField(dst, r.name, r.kind, raw)
		}
	}
	if !hasTable && d.mapping.Table != "" {
		dst = d.appendField(dst, "table", kindText, appendText(nil, d.mapping.Table))
	}
	if units != nil {
		dst = d.appendUnits(dst, units, op)
	}
	if len(attrs) > 0 {
		attrs[0] = '{'
		dst = d.appendField(dst, "attrs", kindAttrs, append(attrs, '}'))
	}
	d.buf = append(dst, '}')
	d.relay.line = line
	d.inner.Decode(d.buf, 0, &d.relay)
}

// lostField returns the field that counts the attempts lost by a foreign error: conflict,
// condition_failed, or "" for another error.
func lostField(err json.RawMessage) string {
	text, _ := textOf(err)
	switch _, known := sample.ParseThrottle(text); {
	case !known:
	case sample.ParseLost(text) == sample.EndedInConflict:
		return "conflict"
	case sample.ParseLost(text) == sample.EndedByCondition:
		return "condition_failed"
	}
	return ""
}

// requests returns the number of requests that a line stands for. All of them ended with the
// line's error.
func (d *Decoder) requests(value func(rule int) json.RawMessage) json.RawMessage {
	i := slices.IndexFunc(d.rules, func(r rule) bool { return r.name == "n" })
	switch {
	case i < 0:
	case d.rules[i].path == "":
		return appendText(nil, d.rules[i].fixed)
	default:
		if n := value(i); n != nil {
			return n
		}
	}
	return json.RawMessage("1")
}

func (d *Decoder) appendField(dst []byte, name string, k kind, raw json.RawMessage) []byte {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	return d.appendValue(append(append(append(dst, '"'), name...), `":`...), k, raw)
}

// relay passes on the results of the decoder of Keyheat JSON, and shows the original line of a
// bad sample.
type relay struct {
	sample.Handler
	line []byte
}

func (r *relay) Bad(reason sample.RejectReason, _ []byte) {
	r.Handler.Bad(reason, frame.Excerpt(r.line))
}
