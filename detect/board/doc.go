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
// After a restart [Board.Restore] continues what another board remembered, [Board.Replay]
// observes the stored seconds again, and [Board.Resume] goes on from the other's time. The
// findings are then those of a board that never stopped.
//
// Memory is bounded: seconds beyond [detect.Horizon] are folded into episodes, and
// at most 20,000 keys are followed, the most loaded ones.
package board
