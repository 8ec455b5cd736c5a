// Package front holds the candidate keys of one second: a set-associative table of keys with
// exact counts, the count-min sketch behind it, the keys' texts, and the numbers of their
// tables and indexes. Its HyperLogLogs count the distinct keys of each table and index by the
// minute, and send only the registers that rose.
package front
