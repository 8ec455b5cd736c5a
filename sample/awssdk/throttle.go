package awssdk

import (
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// refusal is why one attempt was throttled.
type refusal struct {
	// reason is AWS's own text. Where DynamoDB gave no reason it is the error's
	// code, from which no cause can be read.
	reason string
	// table and index are the refused resource, empty when not told.
	table, index string
}

// refusalOf reads a throttling error; false when it is another.
func refusalOf(err error) (refusal, bool) {
	var (
		provisioned *types.ProvisionedThroughputExceededException
		throttling  *types.ThrottlingException
		limit       *types.RequestLimitExceeded
		api         smithy.APIError
	)
	switch {
	case errors.As(err, &provisioned):
		return firstReason(provisioned.ThrottlingReasons, provisioned.ErrorCode()), true
	case errors.As(err, &throttling):
		return firstReason(throttling.ThrottlingReasons, throttling.ErrorCode()), true
	case errors.As(err, &limit):
		return firstReason(limit.ThrottlingReasons, limit.ErrorCode()), true
	case errors.As(err, &api) && isThrottle(api.ErrorCode()):
		return refusal{reason: api.ErrorCode()}, true
	}
	return refusal{}, false
}

// firstReason prefers a hot partition among several reasons: it is what the
// other causes would hide.
func firstReason(reasons []types.ThrottlingReason, code string) refusal {
	chosen := refusal{reason: code}
	for i, r := range reasons {
		text := aws.ToString(r.Reason)
		if text == "" || i > 0 && !strings.Contains(text, "KeyRange") {
			continue
		}
		chosen = refusal{reason: text}
		chosen.table = tableName(r.Resource)
		_, chosen.index, _ = strings.Cut(aws.ToString(r.Resource), "/index/")
		if i > 0 {
			break
		}
	}
	return chosen
}

// failed records a request that ended in an error: demand, when it was
// throttled; consumption, when it was a condition that did not hold; and else
// nothing, but a count.
func (r *request) failed(touches []touch, err error) {
	var cancelled *types.TransactionCanceledException
	var condition *types.ConditionalCheckFailedException
	final, throttled := refusalOf(err)
	switch {
	case errors.As(err, &cancelled):
		r.cancelled(touches, cancelled.CancellationReasons)
	case errors.As(err, &condition):
		if len(touches) == 1 && condition.Item != nil {
			touches[0].before = condition.Item
			touches[0].estimate()
		}
		r.emitAll(touches)
	case throttled:
		r.throttled(touches, final)
	case len(r.refused) > 0: // given up between two attempts
		r.throttled(touches, r.refused[len(r.refused)-1])
	default:
		r.sampler.count.failed.Add(1)
	}
}

// throttled records the demand of a request that was refused as a whole. What
// an index refused is demand on its own key too.
func (r *request) throttled(touches []touch, why refusal) {
	for i := range touches {
		t := &touches[i]
		t.throttle = why.reason
		r.emit(t, true)
		if why.index == "" || why.index == t.index || t.table != why.table {
			continue
		}
		entry := *t
		entry.index = why.index
		entry.pk, entry.sk = r.indexKey(t, why.index)
		if entry.pk.IsZero() {
			r.sampler.count.unknownIndexKeys.Add(1)
			continue
		}
		r.emit(&entry, true)
	}
}

// cancelled records a cancelled transaction: the items that were throttled are
// demand. The others have passed, or failed, their condition in the prepare
// phase, and are charged like a failed condition.
func (r *request) cancelled(touches []touch, reasons []types.CancellationReason) {
	for i := range touches {
		if i >= len(reasons) {
			break
		}
		if code := aws.ToString(reasons[i].Code); isThrottle(code) {
			touches[i].throttle = code
		}
		if reasons[i].Item != nil {
			touches[i].before = reasons[i].Item
			touches[i].estimate()
		}
	}
	r.emitAll(touches)
}

func (r *request) emitAll(touches []touch) {
	for i := range touches {
		r.emit(&touches[i], true)
	}
}
