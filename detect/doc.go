// Package detect is the judge of DynamoDB heat. It turns merged windows of
// per-key load into findings: which key asks a partition for more than it can
// give, how sure that is, and what to do.
//
// Everything here is a function of values. There is no clock, no I/O and no
// randomness: the same windows give the same findings, in whatever order they
// are observed.
//
// # How it is used
//
// A Board is the memory of one judge. Observe hands it a second of a table or
// index, as often as more of that second becomes known; Settle says how far
// event time is known; Findings answers the verdicts.
//
// # What decides
//
// Load is demand: what was consumed and what was refused. A key's lower bound
// decides, its upper bound is shown: what is not proven is "possible". Lower
// bounds only grow, so a second over the limit is final even while the second
// is unfinished; "not over" and "resolved" need settled seconds.
package detect
