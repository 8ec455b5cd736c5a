// Package keydesign describes the partition keys of a table or index as a whole, and
// judges their design. The verdicts range from excellent, for many ids that are used
// evenly, to catastrophic, for one key that takes everything.
//
// A [Census] observes each second once, complete and untrimmed, and counts in bounded
// memory:
//
//   - the keys with the most load over many seconds, by Space-Saving: 512 keys a table,
//     with bounds that hold for every key;
//   - the skew within a second, as the inverse of Simpson's index;
//   - an estimate of the number of distinct keys;
//   - a fair sample of 256 keys, for their common form.
//
// [Census.View] returns the view with its verdict. [FewValues] returns the finding about a
// key with too few values, once the keys have been known for a minute.
//
// A census does not count samples that arrive late for a second. Shares over long times
// exist for the kept keys only, each between its bounds.
package keydesign
