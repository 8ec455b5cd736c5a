package sample

import (
	"slices"
	"strings"
)

// ThrottleReason is the reason for which DynamoDB throttled a request. If DynamoDB gave
// several, it is the most useful one.
type ThrottleReason uint8

// The throttle reasons, named as in ThrottlingReasons. Source: API reference, ThrottlingReason;
// Developer Guide, "Diagnosing throttling".
const (
	// ThrottleUnknown is a missing or unknown throttle reason. An exception's class does not
	// reveal it.
	ThrottleUnknown ThrottleReason = iota
	// KeyRange is a partition over its limit: heat.
	KeyRange
	// Provisioned is a table or index over its provisioned capacity.
	Provisioned
	// MaxOnDemand is a table or index over its owner's limit for on-demand capacity.
	MaxOnDemand
	// AccountLimit is an account over its quota.
	AccountLimit
	// OfIndex is a write to a table that a hot partition of one of its indexes throttled.
	// OfIndexCapacity is a write that an index with too little capacity throttled. The table
	// itself has neither problem.
	OfIndex
	OfIndexCapacity

	// ThrottleReasons is the number of throttle reasons.
	ThrottleReasons = iota
)

// throttleReasons are the ends of AWS's reason texts, behind {Table|Index}{Read|Write}.
var throttleReasons = [ThrottleReasons]string{
	KeyRange:     "KeyRangeThroughputExceeded",
	Provisioned:  "ProvisionedThroughputExceeded",
	MaxOnDemand:  "MaxOnDemandThroughputExceeded",
	AccountLimit: "AccountLimitExceeded",
	OfIndex:      "IndexWriteKeyRangeThroughputExceeded",

	OfIndexCapacity: "IndexWriteThroughputExceeded",
}

// String returns the end of AWS's reason text, or "unknown" for ThrottleUnknown.
func (r ThrottleReason) String() string {
	if int(r) >= len(throttleReasons) || r == ThrottleUnknown {
		return "unknown"
	}
	return throttleReasons[r]
}

// indexWrite begins the reasons of an index for throttling a write.
const indexWrite = "IndexWrite"

// ParseThrottleReason finds the throttle reason in AWS's reason text. Of several it prefers
// heat, because more capacity does not help against heat. index is the index that the request
// was counted for, empty for the table itself. The table is not charged for the reasons of an
// index.
func ParseThrottleReason(text, index string) ThrottleReason {
	if index == "" && strings.Contains(text, indexWrite) && !strings.Contains(text, "TableWrite") {
		if strings.Contains(text, throttleReasons[OfIndex]) {
			return OfIndex
		}
		return OfIndexCapacity
	}
	for reason := KeyRange; reason < OfIndex; reason++ {
		for rest := text; ; {
			i := strings.Index(rest, throttleReasons[reason])
			if i < 0 {
				break
			}
			// Without what it is about, Provisioned is an exception's class.
			if before := rest[:i]; reason != Provisioned || strings.HasSuffix(before, "Read") || strings.HasSuffix(before, "Write") {
				return reason
			}
			rest = rest[i+1:]
		}
	}
	switch {
	case strings.Contains(text, "global secondary index") && index == "":
		return OfIndexCapacity
	case strings.Contains(text, "global secondary index"):
		return Provisioned
	case strings.Contains(text, "RequestLimitExceeded"): // the one class that is a reason: the account's quota
		return AccountLimit
	}
	return ThrottleUnknown
}

// notThrottled are the words for a request that was not throttled, and throttled the words for
// a request that was, without a reason, in any case of letters. A failed condition is not a
// throttle: it consumes as much as the write would have. Neither is an empty list of reasons.
var (
	notThrottled = []string{
		"", "-", "0", "f", "false", "n", "n/a", "nein", "nil", "no", "none", "not throttled", "null", "ok", "success", "succeeded", "[]",
	}
	// otherErrors are parts of errors that are no throttling, in lower case.
	otherErrors = []string{"validationexception", "validationerror", "internalservererror"}
	throttled   = []string{
		"1", "ja", "t", "throttle", "throttled", "ThrottledException", "throttling", "true", "y", "yes", "RequestThrottled", "RequestThrottledException",
	}
)

// refusals are the parts of DynamoDB's texts that mean throttling, in lower case: reasons,
// exceptions and their messages.
var refusals = []string{
	"throughputexceeded", "accountlimitexceeded", "requestlimitexceeded", "throttlingexception", "throttlingerror",
	"provisioned throughput for the table was exceeded", "provisioned throughput for one or more global secondary indexes of the table was exceeded", "exceeds the current capacity", "exceeds the allowed throughput", "exceeds the current throughput limit",
}

// ParseThrottle parses a foreign text about throttling: yes or no in several words, or
// DynamoDB's reason or exception. It returns the text of a throttled record, or "" for a
// request that was not throttled, for example one in conflict with a transaction: see [ParseLost].
// known is false for any other text, such as an HTTP status, which is the same for throttled and
// otherwise rejected requests.
func ParseThrottle(text string) (throttleReason string, known bool) {
	switch {
	case isWord(text, notThrottled):
		return "", true
	case isWord(text, throttled), containsAny(text, refusals):
		return text, true
	case ParseLost(text) != EndedOtherwise:
		return "", true
	}
	return text, false
}

// isOtherError reports whether a text means that a request was not throttled, or failed for
// another reason.
func isOtherError(text string) bool {
	switch {
	case strings.Contains(text, "ThroughputExceeded"): // nearly all
		return false
	case isWord(text, notThrottled):
		return true
	}
	return !containsAny(text, refusals) && (containsAny(text, otherErrors) || lostIn(text) != EndedOtherwise)
}

func containsAny(text string, parts []string) bool {
	lower := strings.ToLower(text)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(lower, part) })
}

// isWord reports whether a text is one of the words, apart from case and surrounding white
// space.
func isWord(text string, words []string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(words, func(word string) bool { return len(word) == len(text) && strings.EqualFold(word, text) })
}
