// Package gather collects details about the requests of one key in one second, in bounded
// memory: retries, sampled calls, places among sort keys, the number of distinct ones, the
// heaviest texts, and the items that lose attempts to each other.
package gather
