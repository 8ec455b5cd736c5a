// Package front holds the candidate keys of one second: a set-associative table of keys with
// exact counts, the count-min sketch behind it, the keys' texts, and the numbers of their
// tables and indexes.
package front
