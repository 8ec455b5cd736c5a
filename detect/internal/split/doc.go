// Package split judges whether a partition would cool if DynamoDB split it for heat. It
// cuts a hot key's sort keys where the load of the first third of the last two minutes
// would have been split, and measures the load of the last third on the parts.
//
// A [Ring] keeps the load by sort key in slots of ten seconds. A slot holds the 128 places
// of a priority sample (see [github.com/keyheat/keyheat/sketch.Place]), some 120 kB a key
// in all. [Ring.Judge] returns the verdict:
//
//   - one item alone exceeds a partition's limit: no split helps it;
//   - the load moves: after splits by its past, it fills one part again;
//   - the load comes in bursts that a part could not serve either;
//   - splits would have left every part below the limit;
//   - or the samples do not decide it. Sort keys that a producer hides by hashing
//     have no order, so that only a hot item can be proven.
//
// AWS does not publish the split point. Two are plausible, the median of the load and the
// middle of the keys, and a verdict must hold for both. limits.go holds the thresholds.
package split
