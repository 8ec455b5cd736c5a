package history

import "time"

// What DynamoDB says of requests for records: Developer Guide, "Evaluate your Streams
// usage". A request brings up to 1,000 records or 1 MB, whichever is reached first. It is
// charged, whatever it brings; no other request to a stream is, and neither are those of
// Lambda's triggers. So many a month, account and Region are free.
const (
	pageRecords  = 1000
	pageBytes    = 1 << 20
	FreeRequests = 2_500_000
)

// dollarsPerRequest is the price in US East (N. Virginia), of 2026: $0.02 for 100,000
// streams read request units (aws.amazon.com/dynamodb/pricing). Other Regions differ.
const dollarsPerRequest = 0.02 / 100_000

// Dollars returns what so many requests for records cost in US East (N. Virginia), where
// none is free any more.
func Dollars(requests int64) float64 { return float64(requests) * dollarsPerRequest }

// idlePages is how many requests it takes to find that an open shard has no more.
const idlePages = 10

// Estimate is the least that it takes to read a stream.
type Estimate struct {
	// Requests are those for records.
	Requests int64
	// Time is that of the requests of one shard, one after the other.
	Time time.Duration
	// Dollars is what they cost; see [Dollars].
	Dollars float64
}

// EstimateOf returns what it takes to read so many bytes of stream records, and so many
// records, that so many open shards share evenly, with a pause between two requests of
// a shard; without open shards they are in one that is closed. Records are larger than their items: they hold them before and after a change.
func EstimateOf(bytes, records int64, open int, every time.Duration) Estimate {
	full := max(ceil(bytes, pageBytes), ceil(records, pageRecords))
	e := Estimate{Requests: full + int64(open)*idlePages}
	e.Time = time.Duration(ceil(full, int64(max(1, open)))+idlePages) * every
	e.Dollars = Dollars(e.Requests)
	return e
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }
