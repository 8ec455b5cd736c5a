// Package split says whether a partition that DynamoDB splits for heat would cool: it
// cuts a hot key's sort keys where the load of the first third of the last two minutes
// would have been split, and measures the load of the last third on the parts.
//
// A [Ring] keeps where the load was, ten seconds a slot: of each the 128 places of a
// priority sample (see [github.com/keyheat/keyheat/sketch.Place]), some 120 kB a key
// in all. [Ring.Judge] gives the verdict:
//
//   - one item alone has more than a partition serves: no split helps it;
//   - the load moves: what was cut by its past lies in one part again;
//   - the load comes in bursts that a part could not serve either;
//   - it would have been split, and every part served;
//   - or the samples do not decide it. Sort keys that a producer hides by hashing
//     have no order, and of them nothing but an item can be said.
//
// Where the split point lies is not published. Two are plausible, the median of the
// load and the middle of the keys, and a verdict that does not hold for both is none.
// The thresholds stand in limits.go.
package split
