package corroboration

import "github.com/keyheat/keyheat/detect"

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
