// Package detect is the vocabulary of the verdict on DynamoDB heat, and the way into
// the packages below it, which make the verdict: they turn windows of load per key
// into findings, which say which key's requests exceed what one partition serves, how
// sure that is, and what to do.
//
// Everything here and below is a function of values. There is no clock, no I/O and no
// randomness: the same windows give the same findings, in whatever order they are
// observed.
//
// # What decides
//
// Load is demand: what was consumed and what DynamoDB throttled. A key's lower bound
// decides, its upper bound is shown: what is not proven is "possible". Lower bounds
// only grow, so a second over the limit is final even before the second is complete;
// "not over" and "resolved" need settled seconds, see [Finding] and [State].
//
// The numbers that decide are in limits.go. What an operator decides comes in as a
// [Policy], what is known of a table beside its traffic as [TableFacts].
//
// # From a window to a finding
//
//  1. board: it decides. Observe records a window, Settle closes seconds, Findings
//     returns the verdicts. Start there; a window passes the others in about this
//     order.
//  2. throttling: what a table or index as a whole throttled, and why.
//  3. sampling: what sampled requests prove of a load. Every bound comes from it.
//  4. episode: the seconds of a key, folded into episodes that fire and resolve, and
//     the figures of the finding.
//  5. evidence: what the requests of its hottest seconds were like.
//  6. split: whether splits of its partition would help, by where among its sort
//     keys the load was and is.
//  7. advice: why the table does not heal by itself; fixes: what to do, what that
//     leaves and what it takes. The numbers of shards on partitions come from whatif,
//     the texts' figures from wording.
//  8. sharding: keys that are shards of one key, judged as one; rolling: keys that
//     are named after a time, judged as a pattern.
//  9. causes: which findings have one cause, and are one incident.
//
// Beside the judge, keydesign describes the keys of a table as a whole: the caller
// feeds its census and gives the view to the judge. forecast follows the growth of
// keys over weeks, whatif answers questions about other numbers of shards, and recipe
// writes the application code of shards.
//
// The packages depend on each other only downwards: this one on none of them, board
// on all that judge.
package detect
