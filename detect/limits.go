package detect

import "github.com/keyheat/keyheat/sample"

// The numbers of DynamoDB. This is the only place with them, beside the prices
// of single requests in sample/units.go.
const (
	// PartitionWrite is what one partition, and so one key, takes: 1,000 write
	// units a second. Source: Amazon DynamoDB Developer Guide, "Designing
	// partition keys to distribute your workload".
	PartitionWrite sample.Milli = 1_000_000
	// PartitionRead is the same for reads: 3,000 read units a second. Same
	// source.
	PartitionRead sample.Milli = 3_000_000
	// WritesInReads is how many read units a write unit weighs in
	// ConsumedThroughputUnits. Source: Developer Guide, "CloudWatch Contributor
	// Insights for DynamoDB".
	WritesInReads = 3
)

// What Keyheat itself decides by.
const (
	// DefaultWarning is the share of a limit from which a key is worth a
	// warning.
	DefaultWarning = 0.8
	// DefaultHeadroom is by how much a shard count exceeds the peak's bare
	// need; AWS's examples use 1.5 to 2.
	DefaultHeadroom = 1.5
	// DefaultMinUnits is the least peak of a table, in units a second, from
	// which its key design is judged: below that no design is hot.
	DefaultMinUnits = 10
	// FireSeconds of FireOf seconds over the warning share make a finding fire.
	FireSeconds = 2
	// FireOf is how many seconds FireSeconds are counted among.
	FireOf = 3
	// SaturatedSeconds of SaturatedOf seconds with consumption between
	// SaturatedFrom and SaturatedTo of a limit are a flat top: a partition that
	// refuses the rest.
	SaturatedSeconds = 3
	// SaturatedOf is how many seconds SaturatedSeconds are counted among.
	SaturatedOf = 5
	// SaturatedFrom is the lower end of a flat top, as a share of the limit.
	SaturatedFrom = 0.95
	// SaturatedTo is its upper end: what DynamoDB lets through beyond the limit.
	SaturatedTo = 1.05
	// ResolveSeconds complete seconds below the warning share resolve a finding.
	ResolveSeconds = 60
	// DecideTail is the probability with which sampling may call a second over a
	// limit that is not: there are 86,400 of them in a day, for every key.
	DecideTail = 1e-6
	// ShowTail is that of each end of an interval that is shown: 95 % in all.
	ShowTail = 0.025
	// MeanShort seconds and meanLongest seconds of a sampled key are also judged
	// by their mean, which sampling leaves less open than one second.
	MeanShort = 10
	// MeanLongest is the longest mean.
	MeanLongest = 60
	// FlatSpread is the share of a limit that sampling may leave open of a second
	// for it to show a flat top.
	PlateauSpread = 0.02
	// TellShare is the share of a table's load from which a key bounds the table
	// in a way worth telling.
	CeilingShare = 0.05
	// HotItemShare is the share of a key's load from which one item is what is
	// hot. Borrowed from CockroachDB's load-based splitting, which counts a range
	// as having a popular key from a quarter of its sampled requests on
	// (splitKeyThreshold in pkg/kv/kvserver/split).
	HotItemShare = 0.25
	// MonotonicShare is the share of steps in one direction above which writes
	// follow the sort key. Shuffled ones have one half, of 20 steps at most 72 %
	// by chance (95 %); one split point then leaves four of five writes on a side.
	MonotonicShare = 0.8
	// UnevenShare is by how much a shard may differ from the mean of all, as the
	// sources on write sharding say: a difference above 20 % is worth a warning.
	UnevenShare = 0.2
	// ManyTimes the shards that the peak needs are too many: every read of the
	// whole key pays for them.
	TooManyFactor = 4
	// CallerShare is the share of a key's load from which a caller alone makes
	// it hot.
	CallerShare = 0.8
	// ScanShare is the share of the load from which Scans make a partition hot.
	ScanShare = 0.25
	// LargeItemBytes is the size from which an item is large, and LittleChange
	// the part of it below which writes change little: then most of what a write
	// costs is spent on bytes that stay as they are.
	LargeItemBytes = 4096
	// LittleChange is a share of an item's bytes.
	LittleChangeShare = 0.1
	// CollectionBytes is how large an item collection of a table with a local
	// secondary index may be. Source: Developer Guide, "Item collections in
	// Local Secondary Indexes".
	CollectionBytes = 10 << 30
	// CollectionSoon is within how many hours of the observed growth 10 GB are
	// near.
	CollectionSoonHours = 30 * 24
	// OnDemandWrite and OnDemandRead are what a new on-demand table takes at
	// once, in units a second. Source: Developer Guide, "DynamoDB on-demand
	// capacity mode".
	OnDemandWrite = 4000
	// OnDemandRead is the same for reads.
	OnDemandRead = 12000
	// QueryLeast is what the smallest eventually consistent query costs, in read
	// units.
	QueryMinimum = 0.5
	// Horizon is how many seconds of event time a key's seconds stay open to
	// late data. Older ones are folded; late data then only raise the peak.
	Horizon = 900
	// LeastRecords records, or steps, are what evidence decides from.
	MinRecords = 20
	// TrackShare is the share of a limit from which a key's seconds are kept.
	TrackShare = 0.1
)

// Limit is what a partition gives of what a kind is about.
func Limit(k Kind) sample.Milli {
	if k == HotKeyRead {
		return PartitionRead
	}
	return PartitionWrite
}

// ShareOf is a part of an amount.
func ShareOf(of sample.Milli, part float64) sample.Milli {
	return sample.Milli(float64(of) * part)
}
