package awssdk

import "sync/atomic"

// Stats are the sampler's counts since it began. All that it does not know or
// could not keep is here: nothing vanishes.
type Stats struct {
	// Requests were seen, Kept of them sampled. ThrottledAttempts are those of
	// kept requests.
	Requests, Kept, ThrottledAttempts int64
	// Records were made of the kept requests; Sent have been taken by the sink.
	// One that folded several counts as all of them.
	Records, Sent int64
	// Dropped records found no place, or the sink did not take them.
	Dropped int64
	// UnknownKeys are items whose key cannot be named without the table's
	// schema; NotReadable are PartiQL statements and key conditions from which
	// no key could be read.
	UnknownKeys, NotReadable int64
	// UnknownIndexKeys are charges to an index whose key neither request nor
	// response shows.
	UnknownIndexKeys int64
	// Failed are kept requests that ended in an error which is no sign of
	// capacity used or throttled.
	Failed int64
	// DescribeErrors, SinkErrors and Panics are what went wrong inside.
	DescribeErrors, SinkErrors, Panics int64
}

type counters struct {
	requests, kept, throttledAttempts           atomic.Int64
	records, sent, dropped                      atomic.Int64
	unknownKeys, notReadable, unknownIndexKeys  atomic.Int64
	failed, describeErrors, sinkErrors, panicks atomic.Int64
}
