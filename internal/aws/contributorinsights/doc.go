// Package contributorinsights reads the counts of CloudWatch Contributor Insights for a
// DynamoDB table's or index's keys, minute by minute: whether and how it is enabled, and
// the reports of its rules.
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
