package sample_test

import (
	"testing"

	"github.com/keyheat/keyheat/sample"
)

// TestThrottleCause: "Take the cause from the reason, never from the exception
// class" (DYNAMODB.md's rule, from the API reference's ThrottlingReason).
func TestThrottleCause(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]sample.Cause{
		"":                                        sample.CauseUnknown,
		"TableWriteKeyRangeThroughputExceeded":    sample.KeyRange,
		"IndexReadKeyRangeThroughputExceeded":     sample.KeyRange,
		"TableReadProvisionedThroughputExceeded":  sample.Provisioned,
		"IndexWriteMaxOnDemandThroughputExceeded": sample.MaxOnDemand,
		"TableReadAccountLimitExceeded":           sample.AccountLimit,
		"ProvisionedThroughputExceededException":  sample.CauseUnknown,
		"ThrottlingException":                     sample.CauseUnknown,
		"TableWriteProvisionedThroughputExceeded,TableWriteKeyRangeThroughputExceeded": sample.KeyRange,
	} {
		if got := sample.ThrottleCause(text, "i"); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}
