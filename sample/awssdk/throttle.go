package awssdk

import (
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/sample/awssdk/internal/access"
)

// throttling describes why one attempt was throttled.
type throttling struct {
	// throttleReason is AWS's reason text. If DynamoDB gave none, it is the error's code, and the
	// throttle reason is unknown.
	throttleReason string
	// table and index are the throttled resource, empty if unknown.
	table, index string
}

// throttlingOf reads a throttling error, or returns false for another error.
func throttlingOf(err error) (throttling, bool) {
	var (
		provisioned *types.ProvisionedThroughputExceededException
		throttled   *types.ThrottlingException
		limit       *types.RequestLimitExceeded
		api         smithy.APIError
	)
	switch {
	case errors.As(err, &provisioned):
		return firstThrottleReason(provisioned.ThrottlingReasons, provisioned.ErrorCode()), true
	case errors.As(err, &throttled):
		return firstThrottleReason(throttled.ThrottlingReasons, throttled.ErrorCode()), true
	case errors.As(err, &limit):
		return firstThrottleReason(limit.ThrottlingReasons, limit.ErrorCode()), true
	case errors.As(err, &api) && access.IsThrottle(api.ErrorCode()):
		return throttling{throttleReason: api.ErrorCode()}, true
	}
	return throttling{}, false
}

// firstThrottleReason prefers a hot partition among several throttle reasons, because the others would
// hide it.
func firstThrottleReason(reasons []types.ThrottlingReason, code string) throttling {
	chosen := throttling{throttleReason: code}
	for i, r := range reasons {
		text := aws.ToString(r.Reason)
		if text == "" || i > 0 && !strings.Contains(text, "KeyRange") {
			continue
		}
		chosen = throttling{throttleReason: text}
		chosen.table = access.TableName(r.Resource)
		_, chosen.index, _ = strings.Cut(aws.ToString(r.Resource), "/index/")
		if i > 0 {
			break
		}
	}
	return chosen
}

// recordFailed records a request that ended in an error. A throttled request counts as
// requested load, and a failed condition as consumed. Any other error is only counted.
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
	case len(r.refusedAttempts) > 0: // cancelled between two attempts
		r.recordThrottled(accesses, r.refusedAttempts[len(r.refusedAttempts)-1])
	default:
		r.sampler.count.failed.Add(1)
	}
}

// recordThrottled records the requested load of a request that was throttled as a whole.
func (r *request) recordThrottled(accesses []access.Access, why throttling) {
	for i := range accesses {
		accesses[i].Throttle = why.throttleReason
		r.emitThrottled(&accesses[i], why, true)
	}
}

// emitThrottled adds the record of a throttled access. A write that an index throttled is
// requested load on the index's own key too, so that its throttle reason is not charged to the
// table alone.
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

// recordCancelled records a cancelled transaction. Its throttled items are requested load. The
// other items have passed, or failed, their condition in the prepare phase, and are charged
// like a failed condition.
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
