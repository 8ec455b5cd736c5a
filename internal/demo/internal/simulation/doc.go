// Package simulation is an application with three DynamoDB tables, for the demo: its
// callers' requests, the tables' partitions that serve and refuse them, and the callers'
// retries. Its output are the records that package awssdk makes of such calls.
//
// The requests of a second follow from the seed, the second and the [Plan], so that a
// restarted demo continues. The partitions' levels and the waiting retries are not kept.
package simulation
