// Package contributorinsights reads what CloudWatch Contributor Insights counts of a
// DynamoDB table's or index's keys, minute by minute: whether and how it is enabled, and
// the reports of its rules.
//
// A report lists at most [MostContributors] keys, those with the highest minutes of the
// time that it is asked for. So one call is asked for the whole time first. Where its last
// key still had enough in some minute for another one to matter that is not listed, the
// halves are asked for, down to single minutes: what is not listed then has a bound, and a
// calm table costs one call.
//
// Reports are ranked by Maximum: of DynamoDB's rules "only MaxContributorValue and Maximum
// return useful statistics" (Guide, "CloudWatch Contributor Insights for DynamoDB: how it
// works"). A maximum counts nothing twice, so that what follows from it stays a lower bound.
package contributorinsights
