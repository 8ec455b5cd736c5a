// Package format knows the formats of sample messages, and detects the format of a
// message.
package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
	"github.com/keyheat/keyheat/sample/cloudtrail"
	"github.com/keyheat/keyheat/sample/keyheatjson"
	"github.com/keyheat/keyheat/sample/mapped"
	"github.com/keyheat/keyheat/sample/otlp"
	"github.com/keyheat/keyheat/sample/samplepb"
)

// Format is the encoding of the messages of a topic or a file.
type Format string

// The formats.
const (
	// Keyheat is Keyheat JSON.
	Keyheat Format = "keyheat"
	// Protobuf is batches of package samplepb.
	Protobuf Format = "keyheat-protobuf"
	// Stream is DynamoDB stream records as JSON.
	Stream Format = "dynamodb-stream"
	// CloudTrail is CloudTrail's DynamoDB data events.
	CloudTrail Format = "cloudtrail"
	// OTLP is OpenTelemetry's spans, in protobuf or JSON.
	OTLP Format = "otlp"
	// Firehose is requests of Amazon Data Firehose, whose records are of any format of text. No
	// topic has them.
	Firehose Format = "firehose"
)

// Formats lists every format of a topic.
func Formats() []Format { return []Format{Keyheat, Protobuf, Stream, CloudTrail, OTLP} }

// Parse returns the format with a name.
func Parse(name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("format %q: give one of %v", name, Formats())
}

// Decoder reads messages of one format. It is for one goroutine.
type Decoder interface {
	// Decode passes a message's samples to the handler. at is the message's own time in
	// Unix milliseconds, 0 for none.
	Decode(message []byte, at int64, h sample.Handler)
}

// Tables complete the samples' facts about their tables, by the table's name.
type Tables map[string]Table

// Table completes the facts that the samples of one table lack.
type Table struct {
	// Schema names the keys and indexes of stream records and CloudTrail events.
	Schema sample.Schema
	// Rate is the sampling rate of spans, and of samples in Keyheat JSON and protobuf, that do
	// not give theirs; 0 is 1. Stream records and CloudTrail events are never sampled.
	Rate float64
	// ItemCollections is whether item collection metrics name the keys of spans.
	ItemCollections bool
}

// NewDecoder returns a decoder of a form for these tables.
func NewDecoder(f Format, tables Tables) Decoder {
	schemas, rates, collections := splitTables(tables)
	switch f {
	case Stream:
		return change.NewDecoder(schemas)
	case CloudTrail:
		return cloudtrail.NewDecoder(schemas)
	case OTLP:
		d := otlp.NewDecoder()
		d.SetRates(rates)
		d.SetItemCollections(collections)
		return d
	case Protobuf:
		d := samplepb.NewDecoder()
		d.SetRates(rates)
		return d
	case Firehose:
		return newFirehose(tables)
	}
	d := keyheatjson.NewDecoder()
	d.SetRates(rates)
	return d
}

// splitTables returns each decoder's part of tables.
func splitTables(tables Tables) (schemas sample.Schemas, rates map[string]float64, collections map[string]bool) {
	schemas, rates, collections = make(sample.Schemas), make(map[string]float64), make(map[string]bool)
	for name, table := range tables {
		schemas[name], collections[name] = table.Schema, table.ItemCollections
		if table.Rate > 0 {
			rates[name] = table.Rate
		}
	}
	return schemas, rates, collections
}

// DetectingDecoder decodes messages of any form of text, each by the form that it detects.
type DetectingDecoder struct {
	decoders map[Format]Decoder
	detected Format // of the message at hand
}

// NewDetectingDecoder returns a decoder for these tables.
func NewDetectingDecoder(tables Tables) *DetectingDecoder {
	b := &DetectingDecoder{decoders: make(map[Format]Decoder)}
	for _, f := range []Format{Keyheat, Stream, CloudTrail} { // what Detect tells apart
		b.decoders[f] = NewDecoder(f, tables)
	}
	return b
}

// Decode implements Decoder.
func (b *DetectingDecoder) Decode(message []byte, at int64, h sample.Handler) {
	b.detected = Detect(message)
	b.decoders[b.detected].Decode(message, at, h)
}

// FileDecoder decodes the messages of files, one file after the other: of any form, or
// with other people's fields. CSV and TSV need no mapping where their columns have the
// names of Keyheat JSON. Samples may lie in other JSON, in texts of it, and behind other text.
type FileDecoder struct {
	detecting *DetectingDecoder
	mapped    *mapped.Decoder
	mapping   mapped.Mapping
	begun     bool   // the file at hand
	columns   bool   // it has a line of names that are Keyheat JSON's
	foreign   bool   // the message at hand was mapped
	form      Format // of the sample at hand; "" where it was mapped
	exports   bool
}

// NewFileDecoder returns a decoder for these tables, and for a mapping that is valid.
func NewFileDecoder(tables Tables, m mapped.Mapping) *FileDecoder {
	schemas, rates, _ := splitTables(tables)
	f := &FileDecoder{detecting: NewDetectingDecoder(tables), mapped: mapped.NewDecoder(m, rates), mapping: m}
	changes := change.NewDecoder(schemas)
	changes.SetTable(m.Table)
	f.detecting.decoders[Stream], f.detecting.decoders[OTLP] = changes, NewDecoder(OTLP, tables)
	f.mapped.SetKnown(f.decodeKnown)
	return f
}

// Begin begins another file.
func (f *FileDecoder) Begin() {
	f.mapped.Begin()
	f.begun, f.columns, f.foreign = false, false, false
}

// Decode implements Decoder.
func (f *FileDecoder) Decode(message []byte, at int64, h sample.Handler) {
	if !f.begun {
		f.begun, f.columns = true, mapped.HasHeader(message)
	}
	var detected Format
	if f.foreign = f.columns || len(f.mapping.Fields) > 0; !f.foreign {
		detected = detect(message)
		f.foreign = detected == "" || detected == OTLP || !f.mapping.IsZero() && detected == Keyheat
	}
	if f.foreign {
		f.form = ""
		f.mapped.Decode(message, at, h)
		return
	}
	f.form = detected
	f.exports = f.exports || detected == Stream && change.IsExport(message)
	f.detecting.detected = detected
	f.detecting.decoders[detected].Decode(message, at, h)
}

// decodeKnown decodes an object within other JSON if it is of a known form.
func (f *FileDecoder) decodeKnown(o mapped.Object, h sample.Handler) bool {
	var m members
	if json.Unmarshal(o.Raw, &m) != nil {
		return false
	}
	form := m.form()
	if form == "" || form == Keyheat {
		return false
	}
	f.exports = f.exports || form == Stream && change.IsExport(o.Raw)
	f.form = form
	f.detecting.decoders[form].Decode(o.Raw, 0, h)
	f.form = ""
	return true
}

// HasWholeKeys reports whether the sample at hand has all attributes of its item's key: where there
// is no sort key, its table has none.
func (f *FileDecoder) HasWholeKeys(r *sample.Record) bool {
	return (f.form == Stream || f.form == CloudTrail) && r.Index == "" && !r.PK.IsZero() && (r.Op == sample.GetItem || r.Op.IsWrite())
}

// HasExports reports whether changes of an incremental export were among the samples: it has only
// the last change of each item.
func (f *FileDecoder) HasExports() bool { return f.exports }

// FieldName returns the file's own name of a field of Keyheat JSON.
func (f *FileDecoder) FieldName(field string) string {
	if f.foreign {
		return f.mapped.FieldName(field)
	}
	return field
}

// Columns returns the columns of the file at hand; none of JSON.
func (f *FileDecoder) Columns() mapped.Columns { return f.mapped.Columns() }

// HasRates reports whether the message at hand is Keyheat JSON or was mapped: other forms of
// files state no sampling rate.
func (f *FileDecoder) HasRates() bool { return f.foreign || f.detecting.detected == Keyheat }

// Value returns the text that a line of the file at hand has for a field of Keyheat JSON.
func (f *FileDecoder) Value(line []byte, field string) string {
	if f.foreign {
		return f.mapped.Value(line, field)
	}
	return mapped.Value(line, field)
}

// detectLines is the number of lines after which a message counts as Keyheat JSON, which
// counts broken lines too.
const detectLines = 16

// detectRecords is how many records of a message are asked for their form: one alone, in
// front of others, might be a broken one.
const detectRecords = 5

// Detect returns the most common format among a message's first JSON records. If formats
// tie, it returns the first record's. A form that it does not know counts as Keyheat JSON.
func Detect(message []byte) Format {
	if f := detect(message); f != "" && f != OTLP {
		return f
	}
	return Keyheat
}

// detect is Detect with OTLP, and with "" for an unknown form.
func detect(message []byte) (best Format) {
	rest := bytes.TrimPrefix(message, []byte("\xef\xbb\xbf"))
	counts, records := make(map[Format]int), 0
	for range detectLines {
		if rest = bytes.TrimLeft(rest, " \t\r\n[,"); len(rest) == 0 || records == detectRecords {
			break
		}
		var next members
		d := json.NewDecoder(bytes.NewReader(rest))
		if rest[0] != '{' || d.Decode(&next) != nil {
			_, rest, _ = bytes.Cut(rest, []byte("\n"))
			continue
		}
		rest = rest[d.InputOffset():]
		f := next.form()
		if counts[f]++; records == 0 || counts[f] > counts[best] {
			best = f
		}
		records++
	}
	return best
}

// members are the JSON members by which the formats differ.
type members struct {
	Records  []members       `json:"Records"`
	DynamoDB json.RawMessage `json:"dynamodb"`
	Metadata json.RawMessage `json:"Metadata"`
	Keys     json.RawMessage `json:"Keys"`
	Source   string          `json:"eventSource"`
	Request  json.RawMessage `json:"requestParameters"`
	Spans    json.RawMessage `json:"resourceSpans"`
	Looked   json.RawMessage `json:"CloudTrailEvent"` // an answer of lookup-events, with the event as text
	Table    json.RawMessage `json:"table"`
	PK       json.RawMessage `json:"pk"`
	Time     json.RawMessage `json:"ts"`
	Units    json.RawMessage `json:"units"`
}

// form returns the form of a record; "" where nothing shows one.
func (m *members) form() Format {
	switch {
	case len(m.Records) > 0:
		return m.Records[0].form()
	case m.Table != nil && m.Units == nil && (m.Time != nil || m.PK != nil), m.PK != nil && m.Time != nil && m.Units == nil:
		return Keyheat
	case m.DynamoDB != nil, m.Metadata != nil && m.Keys != nil:
		return Stream
	case m.Looked != nil:
		return ""
	case strings.HasSuffix(m.Source, ".amazonaws.com"), m.Request != nil && m.Source == "":
		return CloudTrail
	case m.Spans != nil:
		return OTLP
	}
	return ""
}
