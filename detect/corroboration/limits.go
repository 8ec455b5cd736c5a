package corroboration

import "time"

const (
	// leastMinutes is how many minutes with load an interval of coverage needs.
	leastMinutes = 5
	// Span is how many minutes coverage is estimated from, the last ones.
	Span = 180
	// recentMinutes are the last ones in which coverage may have fallen, against
	// all before them.
	recentMinutes = 10
	// fallen is the share of what it was below which coverage has fallen: less
	// may be a change of the traffic's mixture.
	fallen = 0.8
	// whole is the coverage above which the samples show more than there is.
	// CloudWatch and the samples may put a request at a minute's edge into
	// different minutes.
	whole = 1.02
	// precise is the width of an interval that is not worth writing out.
	precise = 0.01
	// quietMinutes without throttling end what CloudWatch alone has found.
	quietMinutes = 5
	// harmMinutes of the last harmOf with throttled requests are a finding.
	harmMinutes, harmOf = 2, 5
	// Delay is how old a minute must be before its absence means anything:
	// CloudWatch publishes DynamoDB's minutes some minutes late.
	Delay = 5 * time.Minute
)
