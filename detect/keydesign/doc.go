// Package keydesign describes what the partition keys of a table or index look like
// as a whole, and judges their design: from excellent, for many ids that are used
// evenly, to catastrophic, for one key that takes everything.
//
// A [Census] observes each second once, complete, before it is trimmed, and counts
// in bounded memory: the keys with the most load over many seconds (Space-Saving,
// 512 keys a table, with bounds that hold for every key), the skew within a second
// (the inverse of Simpson's index), about how many distinct keys there are, and what
// 256 of them, a fair sample, have in common. [Census.View] returns the picture with
// its verdict; [FewValues] the finding about a key with too few values, once the
// keys have been known for a minute.
//
// What arrives late for a second is not counted, and shares over long times are of
// the keys that are kept: each is between its bounds.
package keydesign
