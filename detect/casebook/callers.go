package casebook

import (
	"github.com/keyheat/keyheat/detect"
)

// RetryStorm is one caller's repeated attempts.
const RetryStorm detect.Case = "retry_storm"

var retryStorm = Case{Code: RetryStorm, Subject: detect.SubjectCaller, Heals: healsWithLoad, Tonight: always(BackOff), Futile: true}

// OneCaller is a caller that makes a key hot by itself.
const OneCaller detect.Case = "one_caller"

var oneCaller = Case{Code: OneCaller, Subject: detect.SubjectCaller, Heals: healsWithLoad, Futile: true}

// TestKey is a hot key that is named like a test.
const TestKey detect.Case = "test_key"

var testKey = Case{Code: TestKey, Subject: detect.SubjectCaller, FormOf: OneCaller, Heals: healsWithLoad, Tonight: always(StopTest)}
