// Package publish writes Keyheat's figures of each table to CloudWatch, as metrics of a
// namespace of its own: for alarms and dashboards beside DynamoDB's. It does not write
// unknown figures, so that an alarm can distinguish unknown from zero.
package publish
