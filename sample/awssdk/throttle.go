package awssdk

import (
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk/internal/access"
)

// throttling describes why one attempt was throttled.
type throttling struct {
	// throttleReason is AWS's reason text. If DynamoDB gave none, it is the error's code, and the
	// throttle reason is unknown.
	throttleReason string
	// table and index are the throttled resource, empty if unknown.
	table, index string
	// items are the throttle reasons of a cancelled transaction's items, each empty if the item
	// was not throttled; nil for another error.
	items []string
}

// throttlingOf reads a throttling error, or returns false for another error.
func throttlingOf(err error) (throttling, bool) {
	var (
		provisioned *types.ProvisionedThroughputExceededException
		throttled   *types.ThrottlingException
		limit       *types.RequestLimitExceeded
		cancelled   *types.TransactionCanceledException
		api         smithy.APIError
	)
	switch {
	case errors.As(err, &provisioned):
		return firstThrottleReason(provisioned.ThrottlingReasons, provisioned.ErrorCode()), true
	case errors.As(err, &throttled):
		return firstThrottleReason(throttled.ThrottlingReasons, throttled.ErrorCode()), true
	case errors.As(err, &limit):
		return firstThrottleReason(limit.ThrottlingReasons, limit.ErrorCode()), true
	case errors.As(err, &cancelled):
		return throttledItems(cancelled.CancellationReasons)
	case errors.As(err, &api) && access.IsThrottle(api.ErrorCode()):
		return throttling{throttleReason: api.ErrorCode()}, true
	}
	return throttling{}, false
}

// throttledItems returns the throttled items of a cancelled transaction, or false if none was.
func throttledItems(reasons []types.CancellationReason) (why throttling, throttled bool) {
	why.items = make([]string, len(reasons))
	for i, reason := range reasons {
		if code := aws.ToString(reason.Code); access.IsThrottle(code) {
			why.items[i], throttled = code, true
		}
	}
	return why, throttled
}

// reasonFor returns the throttle reason of one of an attempt's accesses, or empty if the attempt
// failed for others: a transaction may be refused by one table of several.
func (r *request) reasonFor(why *throttling, i int, t *access.Access) string {
	switch {
	case why.items != nil && i < len(why.items):
		return why.items[i]
	case why.items != nil, why.table != "" && why.table != t.Table && r.isTransaction():
		return ""
	}
	return why.throttleReason
}

func (r *request) isTransaction() bool {
	return r.op == sample.TransactGetItems || r.op == sample.TransactWriteItems || r.op == sample.ExecuteTransaction
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
// requested load, a failed condition as consumed, and a conflict as a lost attempt of unknown cost.
// Any other error is only counted.
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
		r.emitLost(accesses, 1)
	case len(accesses) == 1 && sample.ParseEnding(codeOf(err)) == sample.EndedInConflict:
		r.emitLost(accesses, 0)
	case throttled:
		r.recordThrottled(accesses, final)
	case len(r.refusedAttempts) > 0: // cancelled between two attempts
		r.recordThrottled(accesses, r.refusedAttempts[len(r.refusedAttempts)-1])
	default:
		r.sampler.count.failed.Add(1)
	}
}

// endsThrottled reports whether recordFailed takes the last throttled attempt for the end of a
// request: not if a later attempt has an answer for each item.
func endsThrottled(err error) bool {
	var cancelled *types.TransactionCanceledException
	if _, throttled := throttlingOf(err); throttled {
		return true
	}
	return err != nil && !errors.As(err, &cancelled) && len(lostBy(err)) == 0
}

// recordThrottled records the requested load of a request that was throttled as a whole. Items
// of a transaction that were not throttled themselves are only counted: DynamoDB does not show
// what they consumed.
func (r *request) recordThrottled(accesses []access.Access, why throttling) {
	for i := range accesses {
		t := &accesses[i]
		if t.Throttle = r.reasonFor(&why, i, t); t.Throttle == "" {
			r.sampler.count.failed.Add(1)
			continue
		}
		r.emitThrottled(t, why, true)
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
	entry.Index, entry.Conflicts, entry.ConditionsFailed = why.index, 0, 0
	entry.PK, entry.SK = r.indexKey(t, why.index)
	if entry.PK.IsZero() {
		r.sampler.count.unknownIndexKeys.Add(1)
		return
	}
	r.emit(&entry, estimated)
}

// recordCancelled records a cancelled transaction by the reason of each item. A throttled item is
// requested load. An item without an error, or with a failed condition, was prepared and never
// committed: that is half of a transaction's price. What an item in conflict with another request
// cost is unknown: at least nothing. Items that ended otherwise are only counted. Source: Developer
// Guide, "Capacity management for transactions" and "Transaction conflict handling".
func (r *request) recordCancelled(accesses []access.Access, reasons []types.CancellationReason) {
	for i := range accesses {
		t := &accesses[i]
		var reason types.CancellationReason
		if i < len(reasons) {
			reason = reasons[i]
		}
		if reason.Item != nil {
			t.Before = reason.Item
			t.Estimate()
		}
		switch code := aws.ToString(reason.Code); sample.ParseEnding(code) {
		case sample.EndedThrottled:
			t.Throttle = code
		case sample.EndedBeside:
			t.Units /= 2
		case sample.EndedByCondition:
			t.Units, t.Lost = t.Units/2, true
		case sample.EndedInConflict:
			t.Units, t.Lost = 0, true
		default:
			r.sampler.count.failed.Add(1)
			continue
		}
		r.emit(t, true)
	}
}

// emitLost records a request whose last attempt was lost. times is the part of the price that it
// cost.
func (r *request) emitLost(accesses []access.Access, times sample.Milli) {
	for i := range accesses {
		t := &accesses[i]
		t.Units, t.Lost = times*t.Units, true
		r.emit(t, true)
	}
}

// codeOf returns the code of DynamoDB's error, or "".
func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}
