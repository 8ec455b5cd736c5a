// Package cloudwatch reads DynamoDB's own metrics from CloudWatch into the store, as a
// second witness beside the samples: a few metrics of every table each five minutes.
// While a table has an open incident it reads twice as many, each minute.
//
// GetMetricData is paid by the metric. The store counts the month's cost over all
// reporters, and the package keeps it below a limit.
package cloudwatch
