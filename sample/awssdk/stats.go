package awssdk

import "sync/atomic"

// Stats are the sampler's counts since its start. They include all requests and records that it
// could not keep or understand.
type Stats struct {
	// Requests counts all requests, Kept the sampled ones, and ThrottledAttempts the throttled
	// attempts of kept requests.
	Requests, Kept, ThrottledAttempts int64
	// Records counts the records of kept requests, and Sent the records that the sink took. A
	// folded record counts once for each request.
	Records, Sent int64
	// Dropped counts records without room, and records that the sink refused.
	Dropped int64
	// UnknownKeys counts items whose key needs an unknown schema. NotReadable counts PartiQL
	// statements and key conditions without a readable key.
	UnknownKeys, NotReadable int64
	// UnknownIndexKeys counts charges to an index whose key is neither in the request nor in
	// the response.
	UnknownIndexKeys int64
	// Failed counts kept requests, and items of transactions and batches of statements, that
	// ended in an error without known or throttled capacity.
	Failed int64
	// DescribeErrors, SinkErrors and Panics count internal errors.
	DescribeErrors, SinkErrors, Panics int64
}

type counters struct {
	requests, kept, throttledAttempts           atomic.Int64
	records, sent, dropped                      atomic.Int64
	unknownKeys, notReadable, unknownIndexKeys  atomic.Int64
	failed, describeErrors, sinkErrors, panicks atomic.Int64
}
