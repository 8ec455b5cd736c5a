// Package publish writes what Keyheat sees of each table to CloudWatch, as metrics of a
// namespace of its own: for alarms and dashboards beside DynamoDB's. A figure that is not
// known is not written, so that an alarm can tell it from zero.
package publish
