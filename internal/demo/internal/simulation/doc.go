// Package simulation is an application with three DynamoDB tables, for the demo: what
// its callers ask for, what the tables' partitions serve and refuse, and how callers
// try again. What comes of it are the records that package awssdk makes of such calls.
//
// What is asked for in a second follows from the seed, the second and the [Plan], so that
// a restarted demo goes on where it was. What partitions hold, and who waits to try again,
// is not kept.
package simulation
