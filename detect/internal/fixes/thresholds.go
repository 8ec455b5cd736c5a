package fixes

// The thresholds of the fixes. DynamoDB's numbers are in detect/limits.go.
const (
	// worthShare is the least share of a load that makes a cheaper request worth advising.
	worthShare = 0.05
	// mostShare is the least share that makes an operation the load's main one.
	mostShare = 0.5
	// readsShare is the least share of reads that lets the sort keys of all requests stand
	// for the reads.
	readsShare = 0.9
	// knownShare is the least share of requests with a sort key for a verdict on repeats.
	knownShare = 0.8
	// itemShare is the least share of a key's load on one item for dividing the item.
	itemShare = 0.8
	// risingShare is the least share of rising sort keys in the writes of an import.
	risingShare = 0.9
	// fewBursts is the least number of bursts that show their interval, and intervalError
	// the most seconds by which one may deviate from it.
	fewBursts     = 3
	intervalError = 2
	// burstOf is the least ratio of a key's seconds to its seconds over the limit for a
	// burst.
	burstOf = 10
	// calmShare is the most of a queue's write rate that a key's mean may take, so that
	// waiting writes get the rest.
	calmShare = 0.5
	// shortDelay is the most seconds that the writes of a burst may be late. Users of most
	// jobs and queues do not notice.
	shortDelay = 15
	// largeQueryUnits are the read units of a large query: 32 KB, eventually consistent.
	largeQueryUnits = 4
	// counterBytes is the largest size of a counter's item.
	counterBytes = 1024
	// copyShare is the part of a partition's limit that copying old items may take.
	copyShare = 0.1
)
