package cloudwatch

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
)

// namespace is where DynamoDB's metrics are.
const namespace = "AWS/DynamoDB"

// The dimensions of a table's metrics; those of a global index, and those of one
// operation, have a second one.
const (
	tableDimension     = "TableName"
	indexDimension     = "GlobalSecondaryIndexName"
	operationDimension = "Operation"
)

// Calm are the metrics that every table is asked for: what it consumed, and whether
// anything was throttled because of a partition, or at all.
var Calm = []detect.Metric{
	corroboration.ConsumedWrite, corroboration.ConsumedRead,
	corroboration.WriteThrottles, corroboration.ReadThrottles,
	corroboration.WriteKeyRangeThrottles, corroboration.ReadKeyRangeThrottles,
}

// Watched are those of a table with an open incident: why else requests were
// throttled, and what the table is provisioned with.
var Watched = append(append([]detect.Metric{}, Calm...),
	corroboration.WriteProvisionedThrottles, corroboration.ReadProvisionedThrottles,
	corroboration.WriteAccountThrottles, corroboration.ReadAccountThrottles,
	corroboration.WriteOnDemandThrottles, corroboration.ReadOnDemandThrottles,
	corroboration.ProvisionedWrite, corroboration.ProvisionedRead,
)

// ByOperation are those of a table with an open incident, and not of its indexes, beside
// Watched: how many requests of each operation were throttled, and how long those took
// that were served. Each statistic is counted as a metric, which is the most that
// CloudWatch may bill.
var ByOperation = byOperation()

func byOperation() (all []detect.Metric) {
	for _, op := range corroboration.Operations {
		all = append(all, corroboration.ThrottledMetric(op).Metric(), corroboration.Latency(op).Metric(), corroboration.MaxLatency(op).Metric())
	}
	return all
}

// statistic returns how a metric's minute is summed up: consumption's Average would
// be per request, and provisioned throughput is a level.
func statistic(m detect.Metric) string {
	if of, is := corroboration.ParseByOperation(m); is {
		return of.Statistic
	}
	if m == corroboration.ProvisionedWrite || m == corroboration.ProvisionedRead {
		return "Average"
	}
	return "Sum"
}

// Price is what GetMetricData costs for one metric, in US dollars, in most Regions.
// Source: Amazon CloudWatch pricing, metrics requested with GetMetricData.
const Price = 0.01 / 1000
