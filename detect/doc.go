// Package detect defines the vocabulary of Keyheat's verdicts on DynamoDB heat. The
// packages below it make the verdicts: they turn windows of load per key into findings. A
// finding names a key whose requests exceed one partition's limit, how sure that is, and
// the fixes.
//
// Everything here and below is a function of values, without clock, I/O or randomness.
// The same windows give the same findings, in any order of observation.
//
// # How a verdict is made
//
// Load is the requested load: consumed plus throttled. A key's lower bound decides and
// its upper bound is shown: an unproven excess is "possible". Lower bounds only grow, so
// a second over the limit is final even before it is complete. "Not over" and "resolved"
// need settled seconds, see [Finding] and [State].
//
// limits.go holds the numbers that decide. A [Policy] holds the operator's decisions,
// [TableFacts] the facts about a table beside its traffic.
//
// # From a window to a finding
//
//  1. board decides. Observe records a window, Settle closes seconds, Findings returns
//     the verdicts. Start there; a window passes the other packages in about this order.
//  2. internal/throttling sums the throttled load of a table or index, by throttle reason.
//  3. sampling bounds the load behind sampled requests. Every bound comes from it.
//  4. internal/episode folds the seconds of a key into episodes that fire and resolve. It
//     gathers the evidence of the hottest seconds and the figures of the finding.
//  5. internal/split estimates from the load's sort keys whether splits of its partition
//     would help.
//  6. internal/relate explains why the table does not heal by itself. internal/fixes
//     chooses the fixes and estimates the load that they leave and the effort. whatif
//     places shards on partitions.
//  7. keypatterns judges key shards as one key, and keys named after a time as one pattern.
//  8. internal/relate joins findings with one explanation into an incident.
//
// Beside the board, keydesign describes the keys of a table as a whole: the caller feeds
// its census and gives the view to the board. contributors judges the lists of
// Contributor Insights, corroboration compares findings with CloudWatch, and pipeline
// judges Keyheat's own health. whatif compares other numbers of shards, and recipe writes
// application code for key shards.
//
// The packages depend on each other only downwards. detect imports none of them, board
// the packages of the list above.
package detect
