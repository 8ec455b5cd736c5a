package sample_test

import (
	"testing"

	"github.com/keyheat/keyheat/sample"
)

// TestParseThrottle parses foreign texts about throttling.
func TestParseThrottle(t *testing.T) {
	t.Parallel()
	for _, no := range []string{"", " ", "no", "No", "N", "nein", "false", "FALSE", "f", "0", "-", "none", "null", "n/a", "ok", "success", "[]", "ConditionalCheckFailedException", "TransactionConflictException: Transaction is ongoing for the item",
		"Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict, TransactionConflict]"} {
		if reason, known := sample.ParseThrottle(no); reason != "" || !known {
			t.Errorf("%q is %q, %t: it is no throttle", no, reason, known)
		}
	}
	for _, yes := range []string{
		"yes", "Y", "ja", "true", "True", "t", "1", "throttled", "ThrottlingException", "ProvisionedThroughputExceededException",
		"RequestLimitExceeded", "TableWriteKeyRangeThroughputExceeded", "ThrottlingError", `[{"reason":"IndexReadAccountLimitExceeded"}]`,
		"Throughput exceeds the current capacity of your table or index.",
		"The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level",
	} {
		if reason, known := sample.ParseThrottle(yes); reason != yes || !known {
			t.Errorf("%q is %q, %t: it is a throttle", yes, reason, known)
		}
	}
	for _, unclear := range []string{"400", "429", "200", "2", "maybe", "ValidationException", "InternalServerError", "Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict]", "ItemCollectionSizeLimitExceededException", "unthrottled"} {
		if _, known := sample.ParseThrottle(unclear); known {
			t.Errorf("%q says whether it is a throttle", unclear)
		}
	}
}

// TestParseThrottleReason takes the throttle reason from the reason text, and never from the
// exception class (API reference, ThrottlingReason).
func TestParseThrottleReason(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]sample.ThrottleReason{
		"":                                                           sample.ThrottleUnknown,
		"TableWriteKeyRangeThroughputExceeded":                       sample.KeyRange,
		"IndexReadKeyRangeThroughputExceeded":                        sample.KeyRange,
		"TableReadProvisionedThroughputExceeded":                     sample.Provisioned,
		"TableWriteMaxOnDemandThroughputExceeded":                    sample.MaxOnDemand,
		"IndexWriteMaxOnDemandThroughputExceeded":                    sample.OfIndexCapacity,
		"KeyRangeThroughputExceeded":                                 sample.KeyRange,
		`["TableReadProvisionedThroughputExceeded"]`:                 sample.Provisioned,
		"RequestLimitExceeded":                                       sample.AccountLimit,
		"RequestLimitExceeded: TableWriteKeyRangeThroughputExceeded": sample.KeyRange,
		"The level of configured provisioned throughput for one or more global secondary indexes of the table was exceeded.": sample.OfIndexCapacity,
		"TableReadAccountLimitExceeded":          sample.AccountLimit,
		"ProvisionedThroughputExceededException": sample.ThrottleUnknown,
		"ThrottlingException":                    sample.ThrottleUnknown,
		"TableWriteProvisionedThroughputExceeded,TableWriteKeyRangeThroughputExceeded": sample.KeyRange,
	} {
		if got := sample.ParseThrottleReason(text, ""); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	if got := sample.ParseThrottleReason("IndexWriteMaxOnDemandThroughputExceeded", "by-date"); got != sample.MaxOnDemand {
		t.Errorf("of the index itself it is %v", got)
	}
}
