package corroboration

import "github.com/keyheat/keyheat/detect"

// mostCounted is far more than any table has in a minute, and small enough for exact
// sums.
const mostCounted = 1e12

// Countable reports whether a value may be the sum of a minute: a number from 0 to far
// more than any table can have.
func Countable(v float64) bool { return v >= 0 && v <= mostCounted }

// The metrics of a table, or of a global index.
const (
	ConsumedWrite detect.Metric = "ConsumedWriteCapacityUnits"
	ConsumedRead  detect.Metric = "ConsumedReadCapacityUnits"

	ProvisionedWrite detect.Metric = "ProvisionedWriteCapacityUnits"
	ProvisionedRead  detect.Metric = "ProvisionedReadCapacityUnits"

	WriteThrottles detect.Metric = "WriteThrottleEvents"
	ReadThrottles  detect.Metric = "ReadThrottleEvents"

	WriteKeyRangeThrottles    detect.Metric = "WriteKeyRangeThroughputThrottleEvents"
	ReadKeyRangeThrottles     detect.Metric = "ReadKeyRangeThroughputThrottleEvents"
	WriteProvisionedThrottles detect.Metric = "WriteProvisionedThroughputThrottleEvents"
	ReadProvisionedThrottles  detect.Metric = "ReadProvisionedThroughputThrottleEvents"
	WriteAccountThrottles     detect.Metric = "WriteAccountLimitThrottleEvents"
	ReadAccountThrottles      detect.Metric = "ReadAccountLimitThrottleEvents"
	WriteOnDemandThrottles    detect.Metric = "WriteMaxOnDemandThroughputThrottleEvents"
	ReadOnDemandThrottles     detect.Metric = "ReadMaxOnDemandThroughputThrottleEvents"
)
