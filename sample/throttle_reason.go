package sample

import (
	"slices"
	"strings"
)

// ThrottleReason is why DynamoDB throttled a request: the one of its throttling reasons
// that says what to do about it.
type ThrottleReason uint8

// The causes, in the words of ThrottlingReasons. Source: API reference,
// ThrottlingReason; Developer Guide, "Diagnosing throttling".
const (
	// ThrottleUnknown is throttling without a reason, or with one that is not known:
	// an exception's class does not name it.
	ThrottleUnknown ThrottleReason = iota
	// KeyRange is a partition that got more than it takes: heat.
	KeyRange
	// Provisioned is a table or index that got more than it was given.
	Provisioned
	// MaxOnDemand is one that got more than its owner lets it have.
	MaxOnDemand
	// AccountLimit is an account that got more than it may have.
	AccountLimit
	// OfIndex is a write to a table that a partition of one of its indexes could
	// not take, and OfIndexCapacity one that an index has too little capacity for:
	// the table itself is neither hot nor starved.
	OfIndex
	OfIndexCapacity

	// ThrottleReasons is how many there are.
	ThrottleReasons = iota
)

// throttleReasons are the ends of AWS's words, behind {Table|Index}{Read|Write}.
var throttleReasons = [ThrottleReasons]string{
	KeyRange:     "KeyRangeThroughputExceeded",
	Provisioned:  "ProvisionedThroughputExceeded",
	MaxOnDemand:  "MaxOnDemandThroughputExceeded",
	AccountLimit: "AccountLimitExceeded",
	OfIndex:      "IndexWriteKeyRangeThroughputExceeded",

	OfIndexCapacity: "IndexWriteThroughputExceeded",
}

// String returns the end of AWS's word, "unknown" for CauseUnknown.
func (c ThrottleReason) String() string {
	if int(c) >= len(throttleReasons) || c == ThrottleUnknown {
		return "unknown"
	}
	return throttleReasons[c]
}

// indexWrite is the beginning of the reasons that an index has for a write.
const indexWrite = "IndexWrite"

// ThrottleCause finds the cause in AWS's reason text, which may hold several
// reasons: heat comes first, for it is what no other capacity mends. index is the one
// that the request was counted for, empty for the table itself, to which the reason of
// an index is not charged.
func ParseThrottleReason(text, index string) ThrottleReason {
	if index == "" && strings.Contains(text, indexWrite) && !strings.Contains(text, "TableWrite") {
		if strings.Contains(text, throttleReasons[OfIndex]) {
			return OfIndex
		}
		return OfIndexCapacity
	}
	for c := KeyRange; c < OfIndex; c++ {
		for rest := text; ; {
			i := strings.Index(rest, throttleReasons[c])
			if i < 0 {
				break
			}
			if before := rest[:i]; strings.HasSuffix(before, "Read") || strings.HasSuffix(before, "Write") {
				return c
			}
			rest = rest[i+1:]
		}
	}
	return ThrottleUnknown
}

// notThrottled and throttled are the words for a request that was not throttled, and for one
// that was for a reason that is not told, in any case. A failed condition is no throttle: it
// consumes what the write would have.
var (
	notThrottled = []string{
		"", "-", "0", "f", "false", "n", "n/a", "nein", "nil", "no", "none", "not throttled", "null", "ok", "success", "succeeded",
		"ConditionalCheckFailedException",
	}
	throttled = []string{
		"1", "ja", "t", "throttle", "throttled", "ThrottledException", "throttling", "true", "y", "yes", "RequestThrottled", "RequestThrottledException",
	}
)

// refusals are what texts of DynamoDB have in them that say that a request was throttled: its
// reasons, its exceptions, and their messages, in lower case.
var refusals = []string{
	"throughputexceeded", "accountlimitexceeded", "requestlimitexceeded", "throttlingexception", "throttlingerror",
	"provisioned throughput for the table was exceeded", "exceeds the current capacity", "exceeds the allowed throughput", "exceeds the current throughput limit",
}

// ParseThrottle reads what others write of whether a request was throttled: yes or no, in
// several words, or DynamoDB's reason or exception. It returns the text of a throttled
// record, empty for a request that was not throttled. known is false of any other text, such as
// an HTTP status, which does not tell a throttled request from one that was rejected for
// another reason.
func ParseThrottle(text string) (reason string, known bool) {
	switch {
	case isWord(text, notThrottled):
		return "", true
	case isWord(text, throttled):
		return text, true
	}
	lower := strings.ToLower(text)
	for _, refusal := range refusals {
		if strings.Contains(lower, refusal) {
			return text, true
		}
	}
	return text, false
}

// isWord reports whether a text is one of some words, but for its case and the blanks around it.
func isWord(text string, words []string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(words, func(word string) bool { return len(word) == len(text) && strings.EqualFold(word, text) })
}
