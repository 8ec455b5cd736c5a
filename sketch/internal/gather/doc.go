// Package gather collects details about the requests of one key in one second, in bounded
// memory: retries, sampled calls, places among sort keys, and the heaviest texts.
package gather
