package sample

import "strings"

// notThrottled and throttled are the words for a request that was not throttled, and for one
// that was for a reason that is not told, in lower case. A failed condition is no throttle: it
// consumes what the write would have.
var (
	notThrottled = words("", "-", "0", "f", "false", "n", "n/a", "nein", "nil", "no", "none", "not throttled", "null",
		"ok", "success", "succeeded", "conditionalcheckfailedexception")
	throttled = words("1", "ja", "t", "throttle", "throttled", "throttledexception", "throttling", "throttlingerror", "throttlingexception",
		"true", "y", "yes", "requestthrottled", "requestthrottledexception")
)

// refusals are what texts of DynamoDB have in them that say that a request was throttled: its
// reasons, its exceptions, and their messages, in lower case.
var refusals = []string{
	"throughputexceeded", "accountlimitexceeded", "requestlimitexceeded", "throttlingexception", "throttlingerror",
	"provisioned throughput for the table was exceeded", "exceeds the current capacity", "exceeds the allowed throughput", "exceeds the current throughput limit",
}

func words(all ...string) map[string]bool {
	set := make(map[string]bool, len(all))
	for _, word := range all {
		set[word] = true
	}
	return set
}

// ParseThrottle reads what others write of whether a request was throttled: yes or no, in
// several words, or DynamoDB's reason or exception. It returns the text of a throttled
// record, empty for a request that was not throttled. known is false of any other text, such as
// an HTTP status, which does not tell a throttled request from one that was rejected for
// another reason.
func ParseThrottle(text string) (reason string, known bool) {
	lower := strings.ToLower(strings.TrimSpace(text))
	switch {
	case notThrottled[lower]:
		return "", true
	case throttled[lower]:
		return text, true
	}
	for _, refusal := range refusals {
		if strings.Contains(lower, refusal) {
			return text, true
		}
	}
	return text, false
}

// deniesThrottle reports whether the reason of a throttled record says that it was not.
func deniesThrottle(reason string) bool {
	return len(reason) <= maxDenial && notThrottled[strings.ToLower(strings.TrimSpace(reason))]
}

// maxDenial is the length of the longest text that is looked at for a denial, in bytes.
const maxDenial = 64
