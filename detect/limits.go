package detect

import "github.com/keyheat/keyheat/sample"

// The numbers of DynamoDB. This is the only place with them, beside the prices of single
// requests in sample/units.go. "Guide" is the Amazon DynamoDB Developer Guide.
const (
	// PartitionWrite is the limit of one partition, and so of one key: 1,000 write units
	// a second. Source: Guide, "Designing partition keys to distribute your workload".
	PartitionWrite sample.Milli = 1_000_000
	// PartitionRead is the same for reads: 3,000 read units a second. Same source.
	PartitionRead sample.Milli = 3_000_000
	// EventualRead is the most read units a second that AWS measured on one key value, all
	// eventually consistent. No text of AWS promises them. Source: AWS Database Blog,
	// "Scaling DynamoDB: How partitions, hot keys, and split for heat impact performance",
	// part 2.
	EventualRead sample.Milli = 4_500_000
	// RoomTonight is the share of a partition's limit to bring a key to tonight: below it,
	// callers would lose more requests to the limit than to DynamoDB.
	RoomTonight = 0.9
	// WritesInReads is the weight of a write unit in ConsumedThroughputUnits, in read
	// units. Source: Guide, "CloudWatch Contributor Insights for DynamoDB".
	WritesInReads = 3
	// OnDemandWrite is the initial capacity of a new on-demand table, in write units a
	// second. Source: Guide, "DynamoDB on-demand capacity mode".
	OnDemandWrite = 4000
	// OnDemandRead is the same for reads.
	OnDemandRead = 12000
	// RampFactor times its previous peak is the load that an on-demand table serves at once.
	// Source: Guide, "DynamoDB on-demand capacity mode".
	RampFactor = 2
	// TableQuotaWrite is the default quota of a table in write units a second,
	// provisioned or on demand. Source: Guide, "Quotas in Amazon DynamoDB".
	TableQuotaWrite = 40_000
	// TableQuotaRead is the same for reads.
	TableQuotaRead = 40_000
	// QueryMinimum is the cost of the smallest eventually consistent query, in read
	// units. Source: Guide, "DynamoDB read and write operations".
	QueryMinimum = 0.5
	// CollectionBytes is the largest size of an item collection in a table with a local
	// secondary index. Source: Guide, "Item collections in Local Secondary Indexes".
	CollectionBytes = 10 << 30
)

// When an episode begins, fires, and ends.
const (
	// TrackShare is the share of a limit that makes a key warm: its seconds are kept, and
	// its growth is followed.
	TrackShare = 0.1
	// FireSeconds of FireOf seconds over the warning share make a finding fire.
	FireSeconds = 2
	// FireOf is the window of FireSeconds.
	FireOf = 3
	// HarmSeconds of HarmOf seconds proven over a limit are harm worth an alert. A single
	// such second passes before anybody can look.
	HarmSeconds = 5
	// HarmOf is the window of HarmSeconds.
	HarmOf = 10
	// RefusedShare of a key's requests, refused in RefusedSeconds of RefusedOf seconds or
	// over OutageSeconds, makes its finding critical. Callers' retries absorb less.
	RefusedShare = 0.01
	// RefusedSeconds is the least number of seconds with refused requests that prove more
	// than one unlucky second.
	RefusedSeconds = 3
	// RefusedOf is the window of RefusedSeconds.
	RefusedOf = 5
	// OutageShare of a table's or index's requests, throttled over OutageSeconds, are an
	// outage, whatever the cause: the finding is critical.
	OutageShare = 0.1
	// OutageSeconds is the time over which OutageShare counts.
	OutageSeconds = 60
	// BurstSeconds of a table's unused capacity are kept for bursts, as best effort. Source: Guide,
	// "Burst and adaptive capacity".
	BurstSeconds = 300
	// BurstTold is the used part of them from which on-call is told that they run out.
	BurstTold = 0.2
	// OutageParts are the equal parts of OutageSeconds. All but one need throttled requests,
	// or it was a burst.
	OutageParts = 6
	// ContendedRate lost attempts a second on one item, and ContendedShare of all attempts on it,
	// for a minute, are contention. Fewer are what optimistic locks and transactions are made
	// for: a caller that retries once does not notice.
	ContendedRate = 1
	// ContendedShare is the part of the attempts on an item that are lost.
	ContendedShare = 0.1
	// ContendedStays is the part of both that keeps a contention going.
	ContendedStays = 0.5
	// NearLimit is the share of a limit up to which one second proves no harm by itself, if
	// refusals would be seen and none was: DynamoDB serves a little beyond the limit, and
	// requests at a second's end may belong to the next one. HarmSeconds of HarmOf such
	// seconds do.
	NearLimit = 1.1
	// SaturatedSeconds of SaturatedOf seconds with consumption between SaturatedFrom and
	// SaturatedTo of a limit are a plateau: a partition that throttles the rest.
	SaturatedSeconds = 3
	// SaturatedOf is the window of SaturatedSeconds.
	SaturatedOf = 5
	// SaturatedFrom is the lower end of a plateau, as a share of the limit.
	SaturatedFrom = 0.95
	// SaturatedTo is its upper end: DynamoDB serves a little beyond the limit.
	SaturatedTo = 1.05
	// HealedSeconds complete seconds without a refusal, with more load on average than one
	// partition serves, show that DynamoDB has split a key. A partition refuses within the
	// second. Clients of DynamoDB pause for up to 20 s between retries, and jobs that run
	// each minute have come twice in this time.
	HealedSeconds = 120
	// KeptBursts is the most bursts of a key that are kept to see whether they come at fixed times.
	KeptBursts = 8
	// ResolveSeconds complete seconds below the warning share resolve a finding. EndTail may ask
	// for more of a sampled load.
	ResolveSeconds = 60
	// MovingKeys keys, hot one after another, are a hot spot that moves.
	MovingKeys = 3
	// MovingLongest is the longest time that a key of a moving hot spot is hot, in
	// seconds. DynamoDB has time to split a key that is hot for longer.
	MovingLongest = 120
	// MovingPause is the longest pause between one key and the next, in seconds.
	MovingPause = 10
	// MovingOverlap bounds the sum of the keys' hot seconds: at most this many times the
	// seconds from the first key to the last. One key ends in the next one's first
	// second, so keys of two seconds each add up to twice the time.
	MovingOverlap = 2
	// MovingBeside is the number of a moving hot spot's keys that allow one other hot key
	// in its time. One other key is always allowed.
	MovingBeside = 3
	// Horizon is the event time that a key's seconds stay open to late data, in seconds.
	// Older seconds are folded; late data then only raise the peak.
	Horizon = 900
)

// Error bounds of sampled load.
const (
	// DecideTail is the probability that sampling wrongly puts a second over a limit. A
	// day has 86,400 seconds for every key.
	DecideTail = 1e-6
	// ShowTail is the error probability at each end of a shown interval: 95% in all.
	ShowTail = 0.025
	// EndTail is the largest probability that silence is chance, if a finding ends by it. A load
	// that shows itself every 9 s leaves 60 s without a sign about once in three hours.
	EndTail = 1e-3
	// MeanShort and MeanLongest are windows in seconds. A sampled key is also judged by
	// its mean over them, since sampling leaves a mean less open than one second.
	MeanShort = 10
	// MeanLongest is the longest window.
	MeanLongest = 60
	// PeakNoise scales the excess by chance that a sampled key's peak subtracts from its
	// highest second. 1 is the greatest likely excess; on average chance adds less. The
	// value is chosen on simulated loads that stay, wander, grow or rise for half a
	// minute, over a minute to an hour. At 10% sampling all peaks are within 15% of the
	// truth. At 1% nine in ten of the rises are, and all other peaks.
	PeakNoise = 0.9
	// PeakRange is the additional margin of the peak's lower bound, and of its sure part
	// beside the greatest likely excess, in standard deviations.
	PeakRange = 1
	// FlushedShare is the least flushed share of a second's load that matters. A second
	// over the limit with a smaller flushed part is over the policy's share without it.
	FlushedShare = 0.2
	// PlateauSpread is the largest standard deviation of a sampled second that can show a
	// plateau, as a share of a limit.
	PlateauSpread = 0.02
)

// Thresholds of evidence and advice.
const (
	// EvidenceShare is the least share of a limit for keeping a second's evidence. A key
	// that is far from its limit needs no explanation.
	EvidenceShare = 0.4
	// MinRecords is the least number of records, or steps, for evidence to decide.
	MinRecords = 20
	// SplitSeconds is the least observed time, in seconds, before Keyheat states that
	// splits help. A shorter time mistakes minute#uuid for spread (simulated: 2.6% of
	// verdicts after 30 s are wrong, 0.8% after 60 s, none after 120 s).
	SplitSeconds = 120
	// HealSeconds is the time that splits take: AWS writes some minutes, without a
	// number. If a partition is split after every two minutes of heat, a quarter of an
	// hour heals all that splits can heal.
	HealSeconds = 15 * 60
	// HealShare is the share of a longer time's seconds that a partition must throttle
	// before splits count as failed.
	HealShare = 0.25
	// CallerShare is the least share of a key's load for a caller to make it hot alone.
	CallerShare = 0.8
	// CallerExcess is the least ratio that lets a caller explain the heat: its share of
	// the key over its share of the rest of the table's load. A table that one service
	// uses has one caller everywhere.
	CallerExcess = 2
	// TollSeconds is the window for adding up a key's retries, in seconds.
	TollSeconds = 60
	// StormAmplification is the least mean number of attempts a call that makes a retry
	// storm. Clients that back off resend few calls while the requested load is within a
	// partition's limit.
	StormAmplification = 1.5
	// LongestWaitSeconds is the longest pause before a retry of AWS's SDKs, by their policies
	// before November 2026 and since.
	LongestWaitSeconds = 20
	// PatientSeconds is the least mean wait before a retry, in seconds, of a caller that
	// backs off. Since aws-sdk-go-v2 1.48.0 (2026-11-10) a throttled attempt backs off for
	// half a second on average, and longer each time; before, for some tens of milliseconds.
	PatientSeconds = 0.25
	// StormShare is the least share of the repeated attempts that makes a caller their
	// source.
	StormShare = 0.5
	// StormDemand is the largest requested load, as a multiple of a partition's limit,
	// for fixing a retry storm before the key. Above it requests are throttled however
	// their callers back off.
	StormDemand = 1.25
	// WholeShare is the share of a target's load that counts as all of it. The rest of
	// the load then proves nothing.
	WholeShare = 0.98
	// FewKeys keys that share all of a target's load are few values; more of them are
	// many hot keys.
	FewKeys = 10
	// ScanShare is the least share of the load for Scans to make a partition hot.
	ScanShare = 0.25
	// CeilingSeconds is the least time that a key must have been seen before its share
	// bounds the table, in seconds. A burst of one second has all of its second.
	CeilingSeconds = 60
	// LargeItemBytes is the least size of a large item.
	LargeItemBytes = 4096
	// LargeValueBytes is the least size of a value for S3: a write of it costs 64 units. Beside
	// these, what the write's local indexes cost counts little.
	LargeValueBytes = 64 << 10
	// LittleChangeShare is the changed share of an item's bytes that still counts as
	// little: most of a write's cost pays for unchanged bytes.
	LittleChangeShare = 0.1
	// GrowthSeconds is the least number of seconds with known growth, for a key that is
	// not hot.
	GrowthSeconds = 20
	// CollectionSoonHours is the outlook for item collections: a finding needs growth
	// that fills one within this time.
	CollectionSoonHours = 30 * 24
	// CollectionTellHours is the outlook of which on-call is told, once a collection has grown so
	// in CollectionTellSeconds seconds: a shorter import leaves room.
	CollectionTellHours   = 24
	CollectionTellSeconds = 180
)

// When keys are shards of one key, and how many shards are right.
const (
	// GuessedShare is the least share of a limit for a key that ends in a mere number to
	// be a shard. A key with a word, such as #SHARD_7, needs none.
	GuessedShare = 0.01
	// UnevenShare is the largest difference of a shard from the mean of all, as a share
	// of the mean. Sources on write sharding warn above 20%.
	UnevenShare = 0.2
	// TooManyFactor times the shards that the peak needs are too many: every read of the
	// whole key pays for them.
	TooManyFactor = 4
)

// FewValuesSeconds is the least time that a table's keys must be known before they count as
// few, in seconds. keydesign/thresholds.go has the other thresholds of key designs.
const FewValuesSeconds = 60

// Limit returns a partition's limit for a subject's side, writes or reads.
func Limit(s Subject) sample.Milli { return Side(s, PartitionWrite, PartitionRead) }

// ShareOf returns a part of an amount.
func ShareOf(m sample.Milli, part float64) sample.Milli {
	return sample.Milli(float64(m) * part)
}
