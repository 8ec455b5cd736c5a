// Package split judges whether a partition would cool if DynamoDB split it for heat. It
// takes the last two minutes of a hot key, and splits its sort keys by the load of the
// first third. Then it measures the load of the last third on the parts.
//
// A [Ring] keeps the load by sort key in slots of ten seconds. A slot holds the 128 places
// of a priority sample (see [github.com/keyheat/keyheat/sketch.Place]), some 120 kB a key
// in all. [Ring.Judge] returns one of these verdicts:
//
//   - One item alone exceeds a partition's limit: no split helps it.
//   - The load moves: after splits by its past, it fills one part again.
//   - The load comes in bursts that a part could not serve either.
//   - Splits would have left every part below the limit.
//   - The samples do not decide it. Sort keys that a producer hides by hashing have no
//     order, so that only a hot item can be proven.
//
// AWS does not publish the split point. Two are plausible, the median of the load and the
// middle of the keys, and a verdict must hold for both. thresholds.go has the numbers.
package split
