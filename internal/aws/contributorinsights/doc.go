// Package contributorinsights reads the counts of CloudWatch Contributor Insights for a
// DynamoDB table's or index's keys, minute by minute: whether and how it is enabled, and
// the reports of its rules.
//
// A report lists at most [MostContributors] keys, the keys with the highest minutes of
// the requested time. So one call asks for the whole time first. If its last key has
// enough in some minute for an unlisted key to matter, the two halves are asked for, down
// to single minutes. Unlisted keys then have a bound, and a calm table costs one call.
//
// Reports are ranked by Maximum: of DynamoDB's rules "only MaxContributorValue and
// Maximum return useful statistics" (Guide, "CloudWatch Contributor Insights for
// DynamoDB: how it works"). A maximum counts nothing twice, so that conclusions from it
// stay lower bounds.
package contributorinsights
