package corroboration

import "time"

const (
	// leastMinutes is the least number of minutes with load for an interval of coverage.
	leastMinutes = 5
	// Span is the number of last minutes that coverage is estimated from.
	Span = 180
	// recentMinutes is the number of last minutes whose coverage may have fallen, against
	// all minutes before.
	recentMinutes = 10
	// fallen is the share of its earlier value that coverage must fall below. A smaller
	// fall may be a change of the traffic's mixture.
	fallen = 0.8
	// Whole is the largest coverage without a contradiction. CloudWatch and the samples
	// may put a request at a minute's edge into different minutes.
	Whole = 1.02
	// Quiet is the time without throttling that ends a finding of CloudWatch alone.
	Quiet = 5 * time.Minute
	// harmMinutes of the last harmOf with throttled requests are a finding.
	harmMinutes, harmOf = 2, 5
	// Delay is the least age of a minute whose absence means anything: CloudWatch
	// publishes DynamoDB's minutes some minutes late.
	Delay = 5 * time.Minute
)
