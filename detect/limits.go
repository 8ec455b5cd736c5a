package detect

import "github.com/keyheat/keyheat/sample"

// The numbers of DynamoDB. This is the only place with them, beside the prices
// of single requests in sample/units.go. "Guide" is the Amazon DynamoDB Developer
// Guide.
const (
	// PartitionWrite is what one partition, and so one key, takes: 1,000 write
	// units a second. Source: Guide, "Designing partition keys to distribute your
	// workload".
	PartitionWrite sample.Milli = 1_000_000
	// PartitionRead is the same for reads: 3,000 read units a second. Same
	// source.
	PartitionRead sample.Milli = 3_000_000
	// WritesInReads is how many read units a write unit weighs in
	// ConsumedThroughputUnits. Source: Guide, "CloudWatch Contributor Insights for
	// DynamoDB".
	WritesInReads = 3
	// OnDemandWrite is what a new on-demand table takes at once, in write units a
	// second. Source: Guide, "DynamoDB on-demand capacity mode".
	OnDemandWrite = 4000
	// OnDemandRead is the same for reads.
	OnDemandRead = 12000
	// TableQuotaWrite is the default quota of a table in write units a second,
	// provisioned or on demand. Source: Guide, "Quotas in Amazon DynamoDB".
	TableQuotaWrite = 40_000
	// TableQuotaRead is the same for reads.
	TableQuotaRead = 40_000
	// QueryMinimum is what the smallest eventually consistent query costs, in read
	// units. Source: Guide, "DynamoDB read and write operations".
	QueryMinimum = 0.5
	// CollectionBytes is how large an item collection of a table with a local
	// secondary index may be. Source: Guide, "Item collections in Local Secondary
	// Indexes".
	CollectionBytes = 10 << 30
)

// What an operator may decide, with the defaults and bounds of a [Policy].
const (
	// DefaultWarning is the share of a limit from which a key is worth a
	// warning.
	DefaultWarning = 0.8
	// DefaultHeadroom is by how much a shard count exceeds the peak's bare
	// need; AWS's examples use 1.5 to 2.
	DefaultHeadroom = 1.5
	// MinHeadroom is the bare need.
	MinHeadroom = 1
	// MaxHeadroom is a bound against typing errors.
	MaxHeadroom = 100
	// DefaultMinUnits is the least peak of a table, in units a second, from
	// which its key design is judged: below that no design is hot.
	DefaultMinUnits = 10
)

// When an episode begins, fires, and ends.
const (
	// TrackShare is the share of a limit from which a key is warm: its seconds are
	// kept, and its growth is followed.
	TrackShare = 0.1
	// FireSeconds of FireOf seconds over the warning share make a finding fire.
	FireSeconds = 2
	// FireOf is how many seconds FireSeconds are counted among.
	FireOf = 3
	// HarmSeconds of HarmOf seconds proven over a limit are harm that is worth a page:
	// one of them passes before anybody has looked.
	HarmSeconds = 5
	// HarmOf is how many seconds HarmSeconds are counted among.
	HarmOf = 10
	// SaturatedSeconds of SaturatedOf seconds with consumption between
	// SaturatedFrom and SaturatedTo of a limit are a plateau: a partition that
	// throttles the rest.
	SaturatedSeconds = 3
	// SaturatedOf is how many seconds SaturatedSeconds are counted among.
	SaturatedOf = 5
	// SaturatedFrom is the lower end of a plateau, as a share of the limit.
	SaturatedFrom = 0.95
	// SaturatedTo is its upper end: what DynamoDB serves beyond the limit.
	SaturatedTo = 1.05
	// ResolveSeconds complete seconds below the warning share resolve a finding.
	ResolveSeconds = 60
	// MovingKeys keys, hot one after another, are a hot spot that moves.
	MovingKeys = 3
	// MovingLongest is how many seconds a key of a moving hot spot is hot at most:
	// one that is hot for longer is one that DynamoDB has time to split.
	MovingLongest = 120
	// MovingPause is how many seconds may lie between one key and the next.
	MovingPause = 10
	// MovingOverlap times the seconds in which any of the keys was hot is how many
	// they may have been hot in together: one ends in the second in which the next
	// begins, so that keys of two seconds each add up to twice as many.
	MovingOverlap = 2
	// MovingBeside is how many keys of a moving hot spot stand against each other key
	// that is hot in its time; one other may always be.
	MovingBeside = 3
	// Horizon is how many seconds of event time a key's seconds stay open to
	// late data. Older ones are folded; late data then only raise the peak.
	Horizon = 900
)

// What samples may decide.
const (
	// DecideTail is the probability with which sampling may call a second over a
	// limit that is not: there are 86,400 of them in a day, for every key.
	DecideTail = 1e-6
	// ShowTail is that of each end of an interval that is shown: 95% in all.
	ShowTail = 0.025
	// MeanShort seconds and MeanLongest seconds of a sampled key are also judged
	// by their mean, which sampling leaves less open than one second.
	MeanShort = 10
	// MeanLongest is the longest mean.
	MeanLongest = 60
	// PeakNoise is the share that the peak of a sampled key leaves out of what chance
	// adds at most to the highest of its seconds: it adds less than that on average.
	// Chosen on simulated times of a minute to an hour of loads that stay, wander, grow or
	// rise for half a minute: of 10% all peaks, and of 1% nine in ten of the rises and all others,
	// are then within 15% of the truth.
	PeakNoise = 0.9
	// PeakRange is how many standard deviations more the peak's lower bound leaves out, and
	// what is sure of it beside the most that chance adds.
	PeakRange = 1
	// RangeRate is the rate at and below which a range of shards is shown.
	RangeRate = 0.01
	// FlushedShare is the share of a second's load from which it matters that its
	// requests have the time of a flush: what is over a limit without less than that is
	// over the policy's share of it.
	FlushedShare = 0.2
	// PlateauSpread is the share of a limit that sampling may leave open of a
	// second for it to show a plateau.
	PlateauSpread = 0.02
)

// What the evidence of a key may decide, and its advice.
const (
	// EvidenceShare is the share of a limit from which a second's evidence is
	// kept: a key that is far from it needs no explanation.
	EvidenceShare = 0.4
	// MinRecords records, or steps, are what evidence decides from.
	MinRecords = 20
	// SplitSeconds is how long a key's load must be seen before splits are said to
	// help it: a shorter time takes minute#uuid for spread (simulated: 2.6% of
	// verdicts after 30 s are wrong, 0.8% after 60 s, none after 120 s).
	SplitSeconds = 120
	// HealSeconds is how long splits take: AWS says some minutes and gives no number.
	// A partition that is split after two minutes of heat, again and again, has healed
	// after a quarter of an hour what splits can heal.
	HealSeconds = 15 * 60
	// HealShare is the share of a longer time's seconds in which a partition must
	// throttle for splits not to have healed it.
	HealShare = 0.25
	// CallerShare is the share of a key's load from which a caller alone makes
	// it hot.
	CallerShare = 0.8
	// CallerExcess is how many times its share of the rest of a table's load a
	// caller has of a key, at least, for the caller to be why the key is hot: a
	// table that one service uses has one caller everywhere.
	CallerExcess = 2
	// TollSeconds is for how many seconds the retries of a key are added up: the toll of
	// its last minute.
	TollSeconds = 60
	// StormAmplification is how often a key's calls are sent, on average, from which
	// their retries are a storm: clients that back off send few calls more than once
	// while the demand is what a partition serves.
	StormAmplification = 1.5
	// StormShare is the share of the repeated attempts from which a caller makes them.
	StormShare = 0.5
	// StormDemand is how many times what a partition serves the demand may be for a
	// storm to be mended before the key is: with more, requests are refused however
	// their callers back off.
	StormDemand = 1.25
	// WholeShare is the share of a target's load from which keys are all of it: what
	// the others are like says nothing then.
	WholeShare = 0.98
	// FewKeys keys that share all of a target's load are few values; more of them
	// are many hot keys.
	FewKeys = 10
	// ScanShare is the share of the load from which Scans make a partition hot.
	ScanShare = 0.25
	// CeilingShare is the share of a table's load from which it is worth saying
	// how a key bounds the table.
	CeilingShare = 0.05
	// CeilingSeconds is for how long a key must have been seen before its share is said
	// to bound the table: a burst of a second has all of its second.
	CeilingSeconds = 60
	// LargeItemBytes is the size from which an item is large.
	LargeItemBytes = 4096
	// LittleChangeShare is the share of an item's bytes below which writes change
	// little: then most of what a write costs is spent on bytes that stay as they
	// are.
	LittleChangeShare = 0.1
	// GrowthSeconds is of how many seconds the growth of a key that is not hot must be
	// known.
	GrowthSeconds = 20
	// CollectionSoonHours is within how many hours of the observed growth an item
	// collection is near its largest size.
	CollectionSoonHours = 30 * 24
)

// When keys are shards of one key, and how many shards are right.
const (
	// GuessedShare is the share of a limit from which a key that ends in a mere
	// number may be a shard: one with a word, such as #SHARD_7, always may.
	GuessedShare = 0.01
	// UnevenShare is by how much a shard may differ from the mean of all, as the
	// sources on write sharding say: a difference above 20% is worth a warning.
	UnevenShare = 0.2
	// TooManyFactor times the shards that the peak needs are too many: every read
	// of the whole key pays for them.
	TooManyFactor = 4
)

// What a table's keys, and a key's growth, are judged from. The thresholds of key
// designs stand in keydesign/limits.go, what a forecast asks of its data in
// forecast/limits.go: no other package needs them.
const (
	// FewValuesSeconds is how long a table's keys must be known before they are
	// called few.
	FewValuesSeconds = 60
	// ForecastSpanDays is how many days the data must reach back for a forecast:
	// three of each weekday.
	ForecastSpanDays = 21
	// ForecastEarlyShare is the share of a limit at which there is still time.
	ForecastEarlyShare = 0.7
	// GrowthDays is how far ahead a shard count looks, where growth is proven: a
	// quarter, in which an application is changed again anyway.
	GrowthDays = 90
)

// Limit returns what a partition serves of what a kind is about.
func Limit(k Kind) sample.Milli { return Side(k, PartitionWrite, PartitionRead) }

// ShareOf returns a part of an amount.
func ShareOf(of sample.Milli, part float64) sample.Milli {
	return sample.Milli(float64(of) * part)
}
