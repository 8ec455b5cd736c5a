// Package form knows the forms in which samples arrive, and detects which one a
// message has.
package form

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
	"github.com/keyheat/keyheat/sample/cloudtrail"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// Form is what the messages of a topic or a file hold.
type Form string

// The forms.
const (
	// Keyheat is Keyheat JSON.
	Keyheat Form = "keyheat"
	// Stream is DynamoDB stream records as JSON.
	Stream Form = "dynamodb-stream"
	// CloudTrail is CloudTrail's DynamoDB data events.
	CloudTrail Form = "cloudtrail"
)

// Forms lists every form.
func Forms() []Form { return []Form{Keyheat, Stream, CloudTrail} }

// Parse returns the form of that name.
func Parse(name string) (Form, error) {
	if f := Form(name); slices.Contains(Forms(), f) {
		return f, nil
	}
	return "", fmt.Errorf("format %q: give one of %v", name, Forms())
}

// Decoder reads messages of one form. It is for one goroutine.
type Decoder interface {
	// Decode hands out what a message holds. at is the message's own time in
	// Unix milliseconds, 0 for none.
	Decode(message []byte, at int64, h sample.Handler)
}

// Tables are what samples leave open about their tables, by the table's name.
type Tables map[string]Table

// Table is what the samples of one table leave open.
type Table struct {
	// Schema names the keys and indexes of stream records and CloudTrail events.
	Schema sample.Schema
	// Rate is the sampling rate of samples in Keyheat JSON that do not give
	// theirs; 0 is 1. Stream records and CloudTrail events are never sampled.
	Rate float64
}

// NewDecoder returns a decoder of a form for these tables.
func NewDecoder(f Form, tables Tables) Decoder {
	schemas, rates := make(sample.Schemas), make(map[string]float64)
	for name, table := range tables {
		schemas[name] = table.Schema
		if table.Rate > 0 {
			rates[name] = table.Rate
		}
	}
	switch f {
	case Stream:
		return change.NewDecoder(schemas)
	case CloudTrail:
		return cloudtrail.NewDecoder(schemas)
	}
	d := keyheatjson.NewDecoder()
	d.SetRates(rates)
	return d
}

// DetectingDecoder decodes messages of any form, each by the form that it detects.
type DetectingDecoder struct {
	decoders map[Form]Decoder
}

// NewDetectingDecoder returns a decoder for these tables.
func NewDetectingDecoder(tables Tables) *DetectingDecoder {
	b := &DetectingDecoder{decoders: make(map[Form]Decoder)}
	for _, f := range Forms() {
		b.decoders[f] = NewDecoder(f, tables)
	}
	return b
}

// Decode implements Decoder.
func (b *DetectingDecoder) Decode(message []byte, at int64, h sample.Handler) {
	b.decoders[Detect(message)].Decode(message, at, h)
}

// detectLines is how many lines of a message are read before it counts as Keyheat
// JSON, in which broken lines are counted too.
const detectLines = 16

// Detect returns the form of a message by the first record in it that is JSON.
func Detect(message []byte) Form {
	rest := bytes.TrimPrefix(message, []byte("\xef\xbb\xbf"))
	for range detectLines {
		if rest = bytes.TrimLeft(rest, " \t\r\n[,"); len(rest) == 0 {
			break
		}
		var first members
		if rest[0] == '{' && json.NewDecoder(bytes.NewReader(rest)).Decode(&first) == nil {
			return first.form()
		}
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	return Keyheat
}

// members are those in which the forms differ.
type members struct {
	Records  []members       `json:"Records"`
	DynamoDB json.RawMessage `json:"dynamodb"`
	Source   json.RawMessage `json:"eventSource"`
	Request  json.RawMessage `json:"requestParameters"`
	Table    json.RawMessage `json:"table"`
}

func (m *members) form() Form {
	switch {
	case len(m.Records) > 0:
		return m.Records[0].form()
	case m.Table != nil:
		return Keyheat
	case m.DynamoDB != nil:
		return Stream
	case m.Source != nil || m.Request != nil:
		return CloudTrail
	}
	return Keyheat
}
