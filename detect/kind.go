package detect

import "slices"

// Kind is the subject of a finding.
type Kind string

// The kinds of hot keys.
const (
	// HotKeyWrite is a key whose writes come near or exceed a partition's limit.
	HotKeyWrite Kind = "hot_key_write"
	// HotKeyRead is a key whose reads come near or exceed a partition's limit.
	HotKeyRead Kind = "hot_key_read"
	// HotGSIKey is a key of an index whose writes come near or exceed a partition's
	// limit. It throttles the writes of the table itself, even if the table's own keys
	// are all cool.
	HotGSIKey Kind = "hot_gsi_key"
)

// The kinds of a table or index as a whole. These, too, are sent when they fire.
const (
	// HotPartition is a partition that throttles requests though no key is near a limit:
	// several warm keys share it, or a Scan passes through it.
	HotPartition Kind = "hot_partition"
	// TableStarvation is a table or index that its provisioned capacity or its account
	// limits throttle. It is not a hot key: capacity helps. Requests throttled without a
	// reason, and without a hot key, have this kind with GroundNoReason.
	TableStarvation Kind = "table_starvation"
)

// The kinds of related findings, about hot keys or the design of keys. The root of an
// incident has the state of the findings that it explains. Any other one stays Pending
// while it holds.
const (
	// RollingHotKey is a key pattern with a new hot key each day or hour.
	RollingHotKey Kind = "rolling_hot_key"
	// MovingHotSpot is load on one key after another, each for a short time, as in a
	// sorted import. By the time DynamoDB has split one key's partition, the next key is
	// hot.
	MovingHotSpot Kind = "moving_hot_spot"
	// LowCardinalityKey is a key design with so few values that they bound the table.
	LowCardinalityKey Kind = "low_cardinality_key"
	// TooFewShards and TooManyShards are a sharded key, judged as one key. UnevenShards
	// is a sharded key whose shards differ in load.
	TooFewShards  Kind = "too_few_shards"
	TooManyShards Kind = "too_many_shards"
	UnevenShards  Kind = "uneven_shards"
	// LargeItem is a hot key of large items whose writes change little.
	LargeItem Kind = "large_item"
	// SingleCaller is a hot key that one caller alone makes hot. TestKey is a hot key
	// with a test's name.
	SingleCaller Kind = "single_caller"
	TestKey      Kind = "test_key"
	// RetryStorm is a hot key whose caller sends its requests again and again.
	RetryStorm Kind = "retry_storm"
	// LargeCollection is an item collection that grows towards 10 GB, in a table with a
	// local secondary index.
	LargeCollection Kind = "large_collection"
	// TooManyHotKeys is a table or index with more hot keys than Keyheat follows.
	TooManyHotKeys Kind = "too_many_hot_keys"
	// UnseenKeys is a table or index with a possible hot key that no finding covers.
	// Whether a key is hot is unknown.
	UnseenKeys Kind = "unseen_keys"
	// CoverageFell is a table or index whose samples cover less of its CloudWatch load
	// than before.
	CoverageFell Kind = "coverage_fell"
)

// The kinds of Keyheat's own health. Only SamplesStopped may be about a table. They do fire:
// unseen is not calm.
const (
	// CollectionStopped means that no collector attends or can read its source, or that
	// event time stands still while records wait.
	CollectionStopped Kind = "collection_stopped"
	// CollectionLags means that the counted event time is far behind the clock.
	CollectionLags Kind = "collection_lags"
	// BadSamples means that a collector rejects a part of the samples.
	BadSamples Kind = "bad_samples"
	// TablesRefused means that a collector has no room for tables.
	TablesRefused Kind = "tables_refused"
	// SamplesLost means that there is a new gap: samples that are never counted.
	SamplesLost Kind = "samples_lost"
	// SamplesStopped means that a table, or all tables, had samples every minute and now has
	// none, though collectors can read.
	SamplesStopped Kind = "samples_stopped"
)

// PipelineKinds returns the kinds of Keyheat's own health.
func PipelineKinds() []Kind {
	return []Kind{CollectionStopped, CollectionLags, BadSamples, TablesRefused, SamplesLost, SamplesStopped}
}

// OfPipeline reports whether a kind is about Keyheat itself, and not about a table.
func (k Kind) OfPipeline() bool { return slices.Contains(PipelineKinds(), k) }

// OfTable reports whether a kind is about a table or index as a whole.
func (k Kind) OfTable() bool { return k == HotPartition || k == TableStarvation }

// OfKey reports whether a kind is about one key's own load.
func (k Kind) OfKey() bool { return k == HotKeyWrite || k == HotKeyRead || k == HotGSIKey }
