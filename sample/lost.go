package sample

import "strings"

// A write, or a read in a transaction, can lose an attempt to another request of its item:
// DynamoDB ends it with a conflict of transactions, or because its condition does not hold. No
// limit refuses such an attempt, so it is no throttling.

// Lost returns the attempts of the record's requests that ended in a conflict or with a failed
// condition.
func (r *Record) Lost() int64 { return r.Conflicts + r.ConditionsFailed }

// Tries returns the attempts of all the record's requests: one each where they are unknown.
func (r *Record) Tries() int64 { return r.N * max(r.Attempts, 1) }

// checkLost returns the reject reason of impossible counts of lost attempts.
func (r *Record) checkLost() RejectReason {
	isLossless := r.Op.IsRead() && (r.Op != TransactGetItems || r.ConditionsFailed != 0)
	if r.Conflicts < 0 || r.ConditionsFailed < 0 || r.Conflicts > r.Tries()-r.ConditionsFailed || isLossless && r.Lost() != 0 {
		return RejectBadLost
	}
	return ""
}

// Ending is the way in which DynamoDB ended a request, or an item of a transaction, that had no
// effect.
type Ending uint8

// The endings.
const (
	// EndedOtherwise is an error of another kind. What it cost is unknown.
	EndedOtherwise Ending = iota
	// EndedBeside is an item without an error in a transaction that was cancelled. It was
	// prepared and never committed, which costs half of a transaction's price.
	EndedBeside
	EndedThrottled
	// EndedInConflict is an item that another transaction held. What it cost is unknown.
	EndedInConflict
	// EndedByCondition is a condition that did not hold. It costs as much as the write, and in a
	// transaction as much as an item that was only prepared.
	EndedByCondition
)

// ParseEnding returns the ending that an error's code means: an exception, or the reason of an
// item in a cancelled transaction. Source: API reference, TransactWriteItems.
func ParseEnding(code string) Ending {
	switch strings.TrimSuffix(code[strings.LastIndexByte(code, '#')+1:], "Exception") {
	case "None":
		return EndedBeside
	case "TransactionConflict":
		return EndedInConflict
	case "ConditionalCheckFailed":
		return EndedByCondition
	case "ThrottlingError", "Throttling", "ProvisionedThroughputExceeded", "RequestLimitExceeded":
		return EndedThrottled
	}
	return EndedOtherwise
}

// ParseCancellation returns the reasons of a cancelled transaction's items from its message, in
// the order of the request's items, or nil if the message lists none.
func ParseCancellation(message string) []string {
	_, list, found := strings.Cut(message, "ancel") // of "Transaction cancelled, please refer cancellation reasons for specific reasons […]"
	_, list, opened := strings.Cut(list, "[")
	list, _, closed := strings.Cut(list, "]")
	if !found || !opened || !closed || strings.TrimSpace(list) == "" {
		return nil
	}
	codes := strings.Split(list, ",")
	for i := range codes {
		codes[i] = strings.TrimSpace(codes[i])
	}
	return codes
}

// End records that all attempts of the record ended with an error's code, and what they cost: the
// record has the units of requests that took effect. It returns false for an error of another
// kind, whose cost is unknown.
func (r *Record) End(code string) bool {
	switch ending := ParseEnding(code); ending {
	case EndedThrottled:
		r.Throttle = code
	case EndedInConflict:
		r.Conflicts = r.Tries()
		r.RCU, r.WCU = r.lostUnits(r.RCU, r.WCU)
	case EndedByCondition:
		r.ConditionsFailed = r.Tries()
		r.RCU, r.WCU = r.lostUnits(r.RCU, r.WCU)
	case EndedBeside:
		r.RCU, r.WCU = r.RCU/2, r.WCU/2
	default:
		return false
	}
	return true
}

// lostUnits returns what one of the record's requests cost, if all their attempts were lost, by its
// price if it had taken effect. What a conflict costs is unknown: at least nothing.
func (r *Record) lostUnits(rcu, wcu Milli) (Milli, Milli) {
	switch {
	case r.ConditionsFailed == 0:
		return 0, 0
	case r.Op == TransactWriteItems, r.Op == ExecuteTransaction:
		return rcu / 2, wcu / 2
	}
	return rcu, wcu
}

// ParseLost returns the ending that a foreign text about an error of one item means:
// EndedInConflict, EndedByCondition, or EndedOtherwise for any other text. The message of a
// cancelled transaction with different reasons does not tell which of them is the item's.
func ParseLost(text string) Ending {
	codes := ParseCancellation(text)
	if codes == nil {
		codes = []string{text}
	}
	ending := lostIn(codes[0])
	for _, code := range codes[1:] {
		if lostIn(code) != ending {
			return EndedOtherwise
		}
	}
	return ending
}

func lostIn(text string) Ending {
	lower := strings.ToLower(text)
	switch {
	case strings.Contains(lower, "transactionconflict"), strings.Contains(lower, "transaction is ongoing for the item"):
		return EndedInConflict
	case strings.Contains(lower, "conditionalcheckfailed"), strings.Contains(lower, "conditional request failed"):
		return EndedByCondition
	}
	return EndedOtherwise
}
