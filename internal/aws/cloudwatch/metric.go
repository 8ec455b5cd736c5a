package cloudwatch

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
)

// namespace is where DynamoDB's metrics are.
const namespace = "AWS/DynamoDB"

// The dimensions of a table's metrics. The metrics of a global index, and of one
// operation, have a second dimension.
const (
	tableDimension     = "TableName"
	indexDimension     = "GlobalSecondaryIndexName"
	operationDimension = "Operation"
)

// calmMetrics are the metrics of every table: its consumption, and throttling by partitions and
// in all.
var calmMetrics = []detect.Metric{
	corroboration.ConsumedWrite, corroboration.ConsumedRead,
	corroboration.WriteThrottles, corroboration.ReadThrottles,
	corroboration.WriteKeyRangeThrottles, corroboration.ReadKeyRangeThrottles,
}

// watched are the metrics of a table with an open incident: other causes of throttling,
// and the provisioned capacity.
var watched = append(append([]detect.Metric{}, calmMetrics...),
	corroboration.WriteProvisionedThrottles, corroboration.ReadProvisionedThrottles,
	corroboration.WriteAccountThrottles, corroboration.ReadAccountThrottles,
	corroboration.WriteOnDemandThrottles, corroboration.ReadOnDemandThrottles,
	corroboration.ProvisionedWrite, corroboration.ProvisionedRead,
)

// operationMetrics are the metrics of a table with an open incident, without its indexes,
// beside watched: for each operation the throttled requests, and the latency of served
// ones. Each statistic counts as a metric, the most that CloudWatch may bill.
var operationMetrics = byOperation()

func byOperation() (all []detect.Metric) {
	for _, op := range corroboration.Operations {
		all = append(all, corroboration.ThrottledMetric(op).Metric(), corroboration.Latency(op).Metric(), corroboration.MaxLatency(op).Metric())
	}
	return all
}

// statistic returns how a metric's minute is summed up: consumption's Average would
// be per request, and provisioned throughput is a level.
func statistic(m detect.Metric) string {
	if of, is := corroboration.ParseOperationMetric(m); is {
		return of.Statistic
	}
	if m == corroboration.ProvisionedWrite || m == corroboration.ProvisionedRead {
		return "Average"
	}
	return "Sum"
}

// Price is the cost of one metric of GetMetricData, in US dollars, in most Regions.
// Source: Amazon CloudWatch pricing, metrics requested with GetMetricData.
const Price = 0.01 / 1000
