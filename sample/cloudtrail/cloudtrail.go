// Package cloudtrail converts CloudTrail's DynamoDB data events into samples.
//
// Unlike a stream, a trail shows reads and failed requests, throttled ones among them. It does
// not show sizes, so units are the minimum cost of the operation, and every record is
// Estimated. Most queries, batches and statements do not name a key. They are bad samples with
// reject reasons of their own; the decoder never guesses a key.
//
// A trail writes keys without their types. The decoder takes a key in quotes as a string, so a
// number key may appear as a string, unlike in a stream. Source: Developer Guide,
// "Understanding DynamoDB log file entries".
package cloudtrail

import (
	"encoding/json"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
)

// The reject reasons beside the ones of package sample and change.RejectKeySchema. They too are
// a closed set.
const (
	// RejectNotRequest rejects JSON that is not a data event of DynamoDB.
	RejectNotRequest sample.RejectReason = "not_data_event"
	// RejectFailed rejects a request that DynamoDB refused before it cost anything, or that
	// failed at an unknown cost.
	RejectFailed sample.RejectReason = "failed_request"
	// RejectQuery rejects a Query, whose key is in an expression.
	RejectQuery sample.RejectReason = "query_without_key"
	// RejectBatch rejects a BatchGetItem or BatchWriteItem.
	RejectBatch sample.RejectReason = "batch_without_key"
	// RejectTransaction rejects a transaction, or an item of it, without its key.
	RejectTransaction sample.RejectReason = "transaction_without_key"
	// RejectStatement rejects a PartiQL statement.
	RejectStatement sample.RejectReason = "statement_without_key"
)

// Decoder reads CloudTrail events.
type Decoder struct {
	tables sample.Schemas
}

// NewDecoder returns a Decoder for these tables. The map may be nil.
func NewDecoder(tables sample.Schemas) *Decoder { return &Decoder{tables: tables} }

// Decode reads every event in one message: one object, an array, NDJSON, or a trail's file
// {"Records":[…]}. It ignores the message's time, because events have one. Bad events do not
// affect the good ones beside them.
func (d *Decoder) Decode(message []byte, _ int64, h sample.Handler) {
	frame.Each(message, h, func(raw []byte) {
		bad := func(reason sample.RejectReason) { h.Bad(reason, frame.Excerpt(raw)) }
		var e event
		if json.Unmarshal(raw, &e) != nil {
			bad(sample.RejectBadText)
			return
		}
		base, reason := e.base()
		if reason != "" {
			bad(reason)
			return
		}
		targets, reason := e.targets(base.Op)
		if reason != "" {
			bad(reason)
			return
		}
		for i, t := range targets {
			r := base
			r.Calls = 1 / float64(len(targets)) // an event is one call, with DynamoDB's own time
			if !e.end(&r, i, len(targets)) {
				bad(RejectFailed)
				continue
			}
			if reason := t.fill(&r, d.tables); reason != "" {
				bad(reason)
				continue
			}
			h.Record(&r)
		}
	})
}
