package casebook

import (
	"github.com/keyheat/keyheat/detect"
)

// RetryStorm is one caller's repeated attempts.
const RetryStorm Code = "retry_storm"

var retryStorm = Case{Code: RetryStorm, Matches: ofKind(detect.RetryStorm), Heals: healsWithLoad, Tonight: always(BackOff), Futile: true}

// OneCaller is a caller that makes a key hot by itself.
const OneCaller Code = "one_caller"

var oneCaller = Case{Code: OneCaller, Matches: ofKind(detect.SingleCaller), Heals: healsWithLoad, Futile: true}

// TestKey is a hot key that is named like a test.
const TestKey Code = "test_key"

var testKey = Case{Code: TestKey, Matches: ofKind(detect.TestKey), Heals: healsWithLoad, Tonight: always(StopTest)}
