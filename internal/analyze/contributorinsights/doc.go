// Package contributorinsights judges a table's or index's keys by the counts of CloudWatch
// Contributor Insights, minute by minute, beside CloudWatch's metrics of the table: for
// `analyze`, with credentials and without samples. [Describe] asks whether and how Contributor
// Insights is enabled, [Reader] reads the reports of its rules, package contributors judges,
// and [Run] joins them and writes the result.
//
// A report lists at most [MostContributors] keys, the keys with the highest minutes of
// the requested time. The lowest of these bounds every unlisted key. A shorter time has a
// lower bound.
//
// Reports are ranked by Maximum: of DynamoDB's rules "only MaxContributorValue and
// Maximum return useful statistics" (Guide, "CloudWatch Contributor Insights for
// DynamoDB: how it works"). A maximum counts nothing twice, so that conclusions from it
// stay lower bounds.
package contributorinsights
