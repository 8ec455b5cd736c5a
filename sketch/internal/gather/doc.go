// Package gather collects what requests of one key in one second were like, in bounded
// memory: retries, sampled calls, places among sort keys, and the heaviest texts.
package gather
