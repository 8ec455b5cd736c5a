// Package cloudtrail turns CloudTrail's DynamoDB data events into samples.
//
// A trail sees what a stream does not: reads, and requests that were throttled,
// throttled ones among them. It does not see sizes, so units are the least that
// the operation costs, and every record is Estimated. Only what names a key is
// counted to one; queries, batches and statements mostly do not, and are bad
// samples by a reason of their own: nothing is guessed.
//
// A trail writes keys without their types. A key in quotes is taken for a
// string, so a number key may appear as one, unlike in a stream. Source:
// Developer Guide, "Understanding DynamoDB log file entries".
package cloudtrail

import (
	"encoding/json"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
)

// The reasons beside those of sample and change.ReasonKeySchema. They too are a
// closed set.
const (
	// RejectNotRequest is JSON that is no data event of DynamoDB.
	RejectNotRequest sample.RejectReason = "not_data_event"
	// RejectFailed is a request that DynamoDB rejected before it cost anything,
	// or that failed at unknown cost.
	RejectFailed sample.RejectReason = "failed_request"
	// RejectQuery is a Query, whose key stands in an expression.
	RejectQuery sample.RejectReason = "query_without_key"
	// RejectBatch is a BatchGetItem or BatchWriteItem.
	RejectBatch sample.RejectReason = "batch_without_key"
	// RejectTransaction is a transaction, or an item of one, that lacks its
	// key.
	RejectTransaction sample.RejectReason = "transaction_without_key"
	// RejectStatement is a PartiQL statement.
	RejectStatement sample.RejectReason = "statement_without_key"
)

// Decoder reads CloudTrail events.
type Decoder struct {
	tables sample.Schemas
}

// NewDecoder returns a Decoder that knows these tables, which may be nil.
func NewDecoder(tables sample.Schemas) *Decoder { return &Decoder{tables: tables} }

// Decode reads every event in one message: one object, an array, NDJSON, or a
// trail's file {"Records":[…]}. at is not needed: events have a time. A bad
// event is one bad sample, and the good ones beside it count.
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
		for _, t := range targets {
			r := base
			r.Calls = 1 / float64(len(targets)) // an event is a call; its time is DynamoDB's own
			if reason := t.fill(&r, d.tables); reason != "" {
				bad(reason)
				continue
			}
			h.Record(&r)
		}
	})
}
