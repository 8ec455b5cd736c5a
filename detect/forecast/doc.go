// Package forecast follows the growth of a key's peaks over weeks, and says when they
// reach a partition's limit.
//
// [New] takes the highest second of each hour and returns a forecast only where the
// data prove growth: at least three weeks of them, no mere step, and not what day and
// night or the week explain. [Apply] puts it into a finding, whose number of shards
// then carries the growth of the next 90 days.
//
// Growth is taken for linear; where it is exponential the limit is reached earlier.
package forecast
