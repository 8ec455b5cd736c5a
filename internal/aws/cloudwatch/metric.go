package cloudwatch

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
)

// namespace is where DynamoDB's metrics are.
const namespace = "AWS/DynamoDB"

// The dimensions of a table's metrics, and the second one of a global index.
const (
	tableDimension = "TableName"
	indexDimension = "GlobalSecondaryIndexName"
)

// calmMetrics are the metrics of every table: its consumption, and throttling by partitions and
// in all.
var calmMetrics = []detect.Metric{
	corroboration.ConsumedWrite, corroboration.ConsumedRead,
	corroboration.WriteThrottles, corroboration.ReadThrottles,
	corroboration.WriteKeyRangeThrottles, corroboration.ReadKeyRangeThrottles,
}

// watched are the metrics of a table with an open incident: other causes of throttling too.
var watched = append(append([]detect.Metric{}, calmMetrics...),
	corroboration.WriteProvisionedThrottles, corroboration.ReadProvisionedThrottles,
	corroboration.WriteAccountThrottles, corroboration.ReadAccountThrottles,
	corroboration.WriteOnDemandThrottles, corroboration.ReadOnDemandThrottles,
)

// Price is the cost of one metric of GetMetricData, in US dollars, in most Regions.
// Source: Amazon CloudWatch pricing, metrics requested with GetMetricData.
const Price = 0.01 / 1000
