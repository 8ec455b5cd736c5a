// Package contributors judges keys by what CloudWatch Contributor Insights counts of them
// in each minute, beside what the whole table or index consumed in that minute.
//
// Contributor Insights tells one value of a key, 3W + R of its write and read units, and
// only of minutes. What W and R can have been follows from the table's own consumption:
// the key has no more reads than the table, and no more writes. Where that leaves open
// whether a key was over a limit it is possible, and not over. A minute's mean is a lower
// bound of its highest second, so that no key is proven healthy. AWS calls the values
// approximate, and they are of load that was served: a key above a limit of which nothing was
// throttled has its items on several partitions, or a little less load.
package contributors
