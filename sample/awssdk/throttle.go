package awssdk

import (
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/sample/awssdk/internal/access"
)

// throttling is why one attempt was throttled.
type throttling struct {
	// reason is AWS's own text. Where DynamoDB gave no reason it is the error's
	// code, from which no cause can be read.
	reason string
	// table and index are the throttled resource, empty when not known.
	table, index string
}

// refusalOf reads a throttling error; false when it is another.
func throttlingOf(err error) (throttling, bool) {
	var (
		provisioned *types.ProvisionedThroughputExceededException
		throttled   *types.ThrottlingException
		limit       *types.RequestLimitExceeded
		api         smithy.APIError
	)
	switch {
	case errors.As(err, &provisioned):
		return firstReason(provisioned.ThrottlingReasons, provisioned.ErrorCode()), true
	case errors.As(err, &throttled):
		return firstReason(throttled.ThrottlingReasons, throttled.ErrorCode()), true
	case errors.As(err, &limit):
		return firstReason(limit.ThrottlingReasons, limit.ErrorCode()), true
	case errors.As(err, &api) && access.IsThrottle(api.ErrorCode()):
		return throttling{reason: api.ErrorCode()}, true
	}
	return throttling{}, false
}

// firstReason prefers a hot partition among several reasons: it is what the
// other causes would hide.
func firstReason(reasons []types.ThrottlingReason, code string) throttling {
	chosen := throttling{reason: code}
	for i, r := range reasons {
		text := aws.ToString(r.Reason)
		if text == "" || i > 0 && !strings.Contains(text, "KeyRange") {
			continue
		}
		chosen = throttling{reason: text}
		chosen.table = access.TableName(r.Resource)
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
func (r *request) recordFailed(accesses []access.Access, err error) {
	var cancelled *types.TransactionCanceledException
	var condition *types.ConditionalCheckFailedException
	final, throttled := throttlingOf(err)
	switch {
	case errors.As(err, &cancelled):
		r.recordCancelled(accesses, cancelled.CancellationReasons)
	case errors.As(err, &condition):
		if len(accesses) == 1 && condition.Item != nil {
			accesses[0].Before = condition.Item
			accesses[0].Estimate()
		}
		r.emitAll(accesses)
	case throttled:
		r.recordThrottled(accesses, final)
	case len(r.refusedAttempts) > 0: // given up between two attempts
		r.recordThrottled(accesses, r.refusedAttempts[len(r.refusedAttempts)-1])
	default:
		r.sampler.count.failed.Add(1)
	}
}

// throttled records the demand of a request that was throttled as a whole.
func (r *request) recordThrottled(accesses []access.Access, why throttling) {
	for i := range accesses {
		accesses[i].Throttle = why.reason
		r.emitThrottled(&accesses[i], why, true)
	}
}

// emitThrottled adds the record of a throttled access. What an index throttled is demand
// on the index's own key too: its reason is not charged to the table alone.
func (r *request) emitThrottled(t *access.Access, why throttling, estimated bool) {
	r.emit(t, estimated)
	if why.index == "" || why.index == t.Index || t.Table != why.table {
		return
	}
	entry := *t
	entry.Index = why.index
	entry.PK, entry.SK = r.indexKey(t, why.index)
	if entry.PK.IsZero() {
		r.sampler.count.unknownIndexKeys.Add(1)
		return
	}
	r.emit(&entry, estimated)
}

// cancelled records a cancelled transaction: the items that were throttled are
// demand. The others have passed, or failed, their condition in the prepare
// phase, and are charged like a failed condition.
func (r *request) recordCancelled(accesses []access.Access, reasons []types.CancellationReason) {
	for i := range accesses {
		if i >= len(reasons) {
			break
		}
		if code := aws.ToString(reasons[i].Code); access.IsThrottle(code) {
			accesses[i].Throttle = code
		}
		if reasons[i].Item != nil {
			accesses[i].Before = reasons[i].Item
			accesses[i].Estimate()
		}
	}
	r.emitAll(accesses)
}

func (r *request) emitAll(accesses []access.Access) {
	for i := range accesses {
		r.emit(&accesses[i], true)
	}
}
