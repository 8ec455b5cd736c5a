package fixes

// What a fix asks of the evidence. DynamoDB's numbers are in detect/limits.go.
const (
	// worthShare is the share of a load from which a cheaper way to make it is worth
	// saying.
	worthShare = 0.05
	// mostShare is the share from which an operation is what the load consists of.
	mostShare = 0.5
	// readsShare is the share of reads from which the sort keys of requests are
	// those of reads.
	readsShare = 0.9
	// knownShare is the share of requests with a sort key from which repeats are
	// judged.
	knownShare = 0.8
	// burstOf is how many times as long as it was over the limit a key must have been seen,
	// for that to be a burst.
	burstOf = 10
	// calmShare is the share of what a queue may write up to which a key's mean leaves most
	// of it for what waits.
	calmShare = 0.5
	// shortDelay is up to how many seconds the writes of a burst may be late: users of most
	// jobs and queues do not see so much.
	shortDelay = 15
	// largeQueryUnits are the read units from which a query reads much: 32 KB,
	// eventually consistent.
	largeQueryUnits = 4
	// largeValueBytes is the size from which a value is better kept in S3: a write of
	// it costs 64 units.
	largeValueBytes = 64 << 10
	// counterBytes is up to which size an item that is updated may be a counter.
	counterBytes = 1024
	// copyShare is the part of a partition's limit that copying old items may take.
	copyShare = 0.1
)
