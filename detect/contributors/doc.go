// Package contributors judges keys by CloudWatch Contributor Insights: its counts of a
// key in each minute, beside the consumption of the whole table or index in that minute.
//
// Contributor Insights reports one value of a key and minute, 3W + R of its write and
// read units. The table's own consumption bounds W and R: the key has no more reads than
// the table, and no more writes. If the bounds do not decide whether a key was over a
// limit, it is possible, and not over. A minute's mean is a lower bound of its highest
// second, so no key is proven healthy.
//
// AWS calls the values approximate, and they count consumed load. A key above a limit
// without throttling has its items on several partitions, or a little less load.
//
// A verdict is a code with figures. Package contributorinsights writes the sentences.
package contributors
