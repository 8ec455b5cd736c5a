// Package cloudwatch reads DynamoDB's own metrics from CloudWatch into the store, as
// a second witness of what the samples say: a few metrics of every table each five
// minutes, and more of them each minute while a table has an open incident, by operation too.
//
// GetMetricData is paid by the metric. What is spent in a month is counted in the
// store, over all reporters, and kept below a limit.
package cloudwatch
