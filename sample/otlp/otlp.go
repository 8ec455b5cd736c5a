// Package otlp converts OpenTelemetry spans of DynamoDB clients into samples. A message is an
// OTLP ExportTraceServiceRequest, in protobuf or JSON.
//
// A span shows table, operation, request id, errors and, if the application asked DynamoDB for
// it, consumed capacity. The caller is the service.name of its resource. Old and new semantic
// conventions are read; testdata has recordings of four SDKs.
//
// # Keys
//
// No instrumentation records keys. An application adds the attributes keyheat.partition_key and
// keyheat.sort_key: a text, a whole number or bytes. The record of a span without them has no
// key and only counts for its caller: see [sample.Record.IsCallerOnly]. For tables that are
// named to it, a Decoder takes the partition key of a write from its item collection metrics,
// which DynamoDB returns on request for tables with local indexes.
//
// # Sampling
//
// The rate comes from the rejection threshold in the span's tracestate (ot=th). Whole traces
// are drawn, so the record names its trace as its Call. A span without a threshold has the rate
// of its table, or 1: its load is a lower bound if a sampler dropped other spans.
//
// # Retries
//
// A span covers all attempts of the SDK, and spans do not tell how long the SDK waited. Records
// leave both unknown.
package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"

	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
)

// The reject reasons beside the ones of package sample. They too are a closed set.
const (
	// RejectNotRequest rejects a span that is not about a data operation of DynamoDB.
	RejectNotRequest sample.RejectReason = "not_dynamodb"
	// RejectFailed rejects a request that failed without throttling, at no cost or an unknown
	// one.
	RejectFailed sample.RejectReason = "failed_span"
)

const (
	// maxSpan bounds a span in bytes. A decoded span takes up to some hundred times its size,
	// so spans are decoded one by one.
	maxSpan = 256 << 10
	// maxDepth bounds the nesting of attributes.
	maxDepth = 64
)

// Decoder reads spans. It is for one goroutine.
type Decoder struct {
	rates           map[string]float64
	itemCollections map[string]bool
}

// NewDecoder returns a Decoder.
func NewDecoder() *Decoder { return &Decoder{} }

// SetRates sets the sampling rates of tables, in (0,1], for spans without a threshold. The names
// are those of [sample.LookupNames]. The default rate is 1.
func (d *Decoder) SetRates(rates map[string]float64) { d.rates = rates }

// SetItemCollections sets the tables whose item collection metrics name the key of a span
// without a key attribute. The names are those of [sample.LookupNames].
func (d *Decoder) SetItemCollections(tables map[string]bool) { d.itemCollections = tables }

// Decode reads every span of one message. A message that begins with a brace is JSON. It ignores
// the message's time, because spans have one.
//
// A broken message is one bad sample, and none of its spans counts. A bad span does not affect
// the others.
func (d *Decoder) Decode(message []byte, _ int64, h sample.Handler) {
	split := splitProtobuf
	form := protobufForm
	if bytes.HasPrefix(message, []byte("{")) {
		split, form = splitJSON, jsonForm
	}
	batches, ok := split(message)
	if !ok {
		h.Bad(sample.RejectSyntax, frame.Excerpt(message))
		return
	}
	empty := true
	for _, b := range batches {
		caller := callerOf(b.resource, form)
		for raw := range b.spans {
			empty = false
			d.span(raw, caller, form, h)
		}
	}
	if empty {
		h.Bad(sample.RejectEmpty, nil)
	}
}

// form is one of the two encodings of a message.
type form struct {
	unmarshal func([]byte, proto.Message) error
	// id returns an id's text. In JSON it was hexadecimal, which the library read as base64.
	id func([]byte) string
}

var (
	protobufForm = form{
		unmarshal: proto.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: maxDepth}.Unmarshal, id: hex.EncodeToString,
	}
	jsonForm = form{
		unmarshal: protojson.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: maxDepth}.Unmarshal, id: base64.StdEncoding.EncodeToString,
	}
)

// batch is the encoded spans of one resource.
type batch struct {
	resource []byte // empty for none
	spans    func(yield func([]byte) bool)
}

// splitJSON returns false if the message is broken.
func splitJSON(message []byte) ([]batch, bool) {
	var request struct {
		ResourceSpans []struct {
			Resource   json.RawMessage `json:"resource"`
			ScopeSpans []struct {
				Spans []json.RawMessage `json:"spans"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
	if json.Unmarshal(message, &request) != nil {
		return nil, false
	}
	batches := make([]batch, 0, len(request.ResourceSpans))
	for _, r := range request.ResourceSpans {
		batches = append(batches, batch{r.Resource, func(yield func([]byte) bool) {
			for _, scope := range r.ScopeSpans {
				for _, span := range scope.Spans {
					if !yield(span) {
						return
					}
				}
			}
		}})
	}
	return batches, true
}

// The numbers of the fields between a request and its spans.
const (
	fieldResourceSpans = 1 // of ExportTraceServiceRequest
	fieldResource      = 1 // of ResourceSpans
	fieldScopeSpans    = 2
	fieldSpans         = 2 // of ScopeSpans
)

// splitProtobuf returns false if the message is broken. Spans alias it.
func splitProtobuf(message []byte) (batches []batch, ok bool) {
	ok = eachField(message, fieldResourceSpans, func(r []byte) bool {
		b := batch{spans: func(yield func([]byte) bool) {
			eachField(r, fieldScopeSpans, func(scope []byte) bool { return eachField(scope, fieldSpans, yield) })
		}}
		batches = append(batches, b)
		last := &batches[len(batches)-1]
		return eachField(r, fieldResource, func(resource []byte) bool { last.resource = resource; return true }) &&
			eachField(r, fieldScopeSpans, func(scope []byte) bool {
				return eachField(scope, fieldSpans, func([]byte) bool { return true })
			})
	})
	return batches, ok
}

// eachField calls use with each value of a field of messages. It returns false if the message is
// broken or use returned false.
func eachField(message []byte, wanted protowire.Number, use func(value []byte) bool) bool {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return false
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
			return false
		}
		if number == wanted {
			value, size := protowire.ConsumeBytes(message[:n])
			if kind != protowire.BytesType || size < 0 || !use(value) {
				return false
			}
		}
		message = message[n:]
	}
	return true
}

// callerOf returns the service.name of an encoded resource; empty if it is unknown. An SDK
// without a name calls itself unknown_service.
func callerOf(resource []byte, f form) string {
	var r resourcepb.Resource
	if len(resource) == 0 || len(resource) > maxSpan || f.unmarshal(resource, &r) != nil {
		return ""
	}
	for _, a := range r.Attributes {
		if name := a.GetValue().GetStringValue(); a.Key == "service.name" && !isUnnamed(name) {
			return name
		}
	}
	return ""
}

// span reads an encoded span into a record for each of its tables.
func (d *Decoder) span(raw []byte, caller string, f form, h sample.Handler) {
	var s tracepb.Span
	switch {
	case len(raw) > maxSpan:
		h.Bad(sample.RejectTooLarge, nil)
		return
	case f.unmarshal(raw, &s) != nil:
		h.Bad(sample.RejectSyntax, frame.Excerpt(raw))
		return
	}
	q := request{caller: caller, trace: f.id(s.TraceId), id: f.id(s.SpanId), rate: rateOf(s.TraceState)}
	q.read(&s)
	bad := func(reason sample.RejectReason) { h.Bad(reason, frame.Excerpt([]byte(s.Name))) }
	tables, reason := q.identify()
	if reason != "" {
		bad(reason)
		return
	}
	for _, table := range tables {
		r, reason := d.record(&q, table, len(tables) == 1)
		if reason != "" {
			bad(reason)
			continue
		}
		h.Record(&r)
	}
}
