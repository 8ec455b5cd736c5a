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
//
// # Where what is
//
// The numbers are in limits.go, and only there. What an operator says comes in as
// a Policy and TableFacts. A key's seconds become an episode (track.go,
// episode.go; with sampling.go for what sampling leaves open), a table's own
// seconds do in strain.go; an episode becomes a Finding in verdict.go, with
// evidence.go for what its requests were like, reason.go for why it does not heal
// and advice.go for what to do. What a finding says beside its heat is in more.go;
// keys that belong together are in sharded.go, judged in shardverdict.go, and in
// rolling.go. What a table's keys
// look like is a Census and its View (census.go, frequent.go, template.go,
// view.go, design.go, cardinality.go). Questions about the future are answered by
// forecast.go, growth.go, placement.go and whatif.go.
package detect
