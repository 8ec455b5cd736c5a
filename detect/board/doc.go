// Package board is the judge: it turns windows of load per key into findings, and
// is where the other packages below detect come together.
//
// A [Board] holds the state of one judge. The caller observes each second of each table
// and index, again whenever more of it becomes known. It settles seconds once they are
// complete, and asks for the findings:
//
//	b := board.New(board.Options{})
//	b.Settle(first-1, true)
//	b.Observe(window)
//	b.Settle(window.Second, true)
//	findings := b.Findings()
//
// Lower bounds only grow, so a second over the limit is final even before it is
// settled. Only settled seconds show that a key is below the limit, or that an episode
// is resolved.
//
// Restore continues another judge's findings after a restart. A finding does not hold
// everything, such as how much of the quiet before the handover was completely seen. The
// board counts the rest as unseen: a finding may resolve later than it would have, never
// earlier.
//
// Memory is bounded: seconds beyond [detect.Horizon] are folded into episodes, and
// at most 20,000 keys are followed, the most loaded ones.
package board
