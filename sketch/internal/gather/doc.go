// Package gather collects details about the requests of one key in one second, in bounded
// memory: retries, sampled calls, places among sort keys, the number of distinct ones, the
// heaviest texts, and the items that lose attempts to each other.
//
// [Bins] decide whether the times of a second's records are the times of the requests, or of a
// moment at which a producer flushed its buffer. They count times in bins of 20 ms, for each
// key and for each producer. A producer is the caller if it is known, and the table otherwise.
// A burst of 20 ms looks like a flush, and so does a second whose times are whole seconds. The
// judge of a flushed second knows how long the requests before it had stopped.
package gather
