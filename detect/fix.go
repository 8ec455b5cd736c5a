package detect

import (
	"maps"
	"slices"
)

// Fix is the code of one way to help. It determines a step's action, usual effort and
// section of the guide.
type Fix string

// The fixes for a hot key, the least effort first.
var (
	FixCheckCombined     = newFix("check_combined", ActionWait, EffortNone, "capacity")                     // whether reads and writes together throttle
	FixWaitForSplit      = newFix("wait_for_split", ActionWait, EffortNone, "waiting")                      // of a key
	FixAwaitVerdict      = newFix("await_verdict", ActionWait, EffortNone, "waiting")                       // on whether a split helps
	FixSplitMeanwhile    = newFix("split_meanwhile", ActionWait, EffortNone, "waiting")                     // not worth waiting for
	FixCheckSplit        = newFix("check_split", ActionWait, EffortNone, "waiting")                         // whether DynamoDB has split the key
	FixKeepKey           = newFix("keep_key", ActionShard, EffortNone, "shards")                            // one key still carries the load
	FixStopTest          = newFix("stop_test", ActionCaller, EffortSetting, "callers")                      // a test's load
	FixMissingValue      = newFix("missing_value", ActionCaller, EffortCode, "callers")                     // a part of the key has none
	FixMaskedKey         = newFix("masked_key", ActionCaller, EffortCode, "callers")                        // many keys may be one
	FixCalmRetries       = newFix("calm_retries", ActionRetry, EffortSetting, "retries")                    // of one caller
	FixMendCaller        = newFix("mend_caller", ActionCaller, EffortSetting, "callers")                    // one caller makes the key hot
	FixCheckCapacity     = newFix("check_capacity", ActionCapacity, EffortSetting, "capacity")              // the table refuses the key's requests
	FixOwnTimes          = newFix("own_times", ActionPipeline, EffortCode, "times-of-requests")             // requests carry the times of batches
	FixBackOff           = newFix("back_off", ActionRetry, EffortCode, "retries")                           // all callers retry
	FixSpreadBurst       = newFix("spread_burst", ActionSpread, EffortCode, "retries")                      // writes that may be late
	FixRefilledCache     = newFix("refilled_cache", ActionCache, EffortCode, "caches")                      // by one of many readers
	FixConditionalWrite  = newFix("conditional_write", ActionTransaction, EffortCode, "conditional-writes") // in place of a transaction
	FixEventualRead      = newFix("eventual_read", ActionRead, EffortCode, "reads")                         // in place of a strong one
	FixSmallerQuery      = newFix("smaller_query", ActionQuery, EffortCode, "queries")                      // fewer bytes
	FixFewerWrites       = newFix("fewer_writes", ActionGather, EffortCode, "counters")                     // of one item
	FixDividedCounter    = newFix("divided_counter", ActionSplit, EffortCode, "counters")                   // summed when read
	FixCache             = newFix("cache", ActionCache, EffortComponent, "caches")
	FixChangingItem      = newFix("changing_item", ActionVertical, EffortItems, "large-items") // what changes, in an item of its own
	FixReadItem          = newFix("read_item", ActionVertical, EffortItems, "large-items")     // what is read, in an item of its own
	FixWrittenItem       = newFix("written_item", ActionVertical, EffortItems, "large-items")  // the same, if little changes
	FixCompression       = newFix("compression", ActionCompress, EffortItems, "large-items")
	FixObjectStore       = newFix("object_store", ActionObject, EffortItems, "large-items")
	FixSparseIndex       = newFix("sparse_index", ActionSparse, EffortItems, "indexes") // without a value that nobody queries
	FixProjection        = newFix("projection", ActionProject, EffortItems, "indexes")  // of fewer attributes
	FixIndexKeyOfQueries = newFix("index_key_of_queries", ActionIndex, EffortKeys, "indexes")
	FixShardedIndex      = newFix("sharded_index", ActionShard, EffortKeys, "indexes")
	FixIndexKeyOfWrites  = newFix("index_key_of_writes", ActionIndex, EffortKeys, "indexes")
	FixCopies            = newFix("copies", ActionCopies, EffortKeys, "caches") // of an item that is read
	FixDividedItem       = newFix("divided_item", ActionSplit, EffortKeys, "counters")
	FixTimeKey           = newFix("time_key", ActionRename, EffortKeys, "time-keys") // more than the time in the key
	FixShardedKey        = newFix("sharded_key", ActionShard, EffortKeys, "shards")
)

// The steps that belong to shards.
var (
	FixPrewarmForShards  = newFix("prewarm_for_shards", ActionPrewarm, EffortSetting, "capacity")
	FixCapacityForCopies = newFix("capacity_for_copies", ActionCapacity, EffortSetting, "capacity")
	FixMigrateWrites     = newFix("migrate_writes", ActionMigrate, EffortKeys, "migration")
	FixMigrateQueue      = newFix("migrate_queue", ActionMigrate, EffortKeys, "migration")
	FixMigrateReads      = newFix("migrate_reads", ActionMigrate, EffortKeys, "migration")
	FixMigrateIndex      = newFix("migrate_index", ActionMigrate, EffortKeys, "migration")
	FixMigrateTimeKey    = newFix("migrate_time_key", ActionMigrate, EffortKeys, "migration")
	FixMigrateShards     = newFix("migrate_shards", ActionMigrate, EffortKeys, "migration") // of a key that is a shard already
)

// The fixes for a table, an index or several keys.
var (
	FixProvisionedCapacity   = newFix("provisioned_capacity", ActionCapacity, EffortSetting, "capacity")
	FixIndexCapacity         = newFix("index_capacity", ActionCapacity, EffortSetting, "capacity")
	FixOwnMaximum            = newFix("own_maximum", ActionCapacity, EffortSetting, "capacity")
	FixAccountQuota          = newFix("account_quota", ActionCapacity, EffortSetting, "capacity")
	FixNamedCapacity         = newFix("named_capacity", ActionCapacity, EffortSetting, "capacity") // the one that CloudWatch's reasons name
	FixSendReason            = newFix("send_reason", ActionPipeline, EffortCode, "")
	FixFindIndexKey          = newFix("find_index_key", ActionIndex, EffortItems, "indexes")
	FixSlowScan              = newFix("slow_scan", ActionScan, EffortCode, "scans")
	FixPrewarmNewTable       = newFix("prewarm_new_table", ActionPrewarm, EffortSetting, "capacity")
	FixPrewarm               = newFix("prewarm", ActionPrewarm, EffortSetting, "capacity")
	FixPrewarmForRamp        = newFix("prewarm_for_ramp", ActionPrewarm, EffortSetting, "capacity")
	FixSlowRamp              = newFix("slow_ramp", ActionRetry, EffortSetting, "capacity")
	FixWaitForPartitionSplit = newFix("wait_for_partition_split", ActionWait, EffortNone, "waiting")
	FixContributorInsights   = newFix("contributor_insights", ActionPipeline, EffortSetting, "")
	FixBoundedCollection     = newFix("bounded_collection", ActionRename, EffortKeys, "large-collections")
	FixMoreValues            = newFix("more_values", ActionRename, EffortKeys, "few-values")
	FixIndexShards           = newFix("index_shards", ActionIndex, EffortItems, "few-values") // behind each of few values
	FixMoreShards            = newFix("more_shards", ActionShard, EffortCode, "shards")
	FixFewerShards           = newFix("fewer_shards", ActionShard, EffortKeys, "shards")
	FixEvenShards            = newFix("even_shards", ActionShard, EffortCode, "shards")
	FixShorterTransactions   = newFix("shorter_transactions", ActionTransaction, EffortCode, "contention")
	FixRetryConflicts        = newFix("retry_conflicts", ActionRetry, EffortSetting, "contention")
	FixCountFromStream       = newFix("count_from_stream", ActionGather, EffortComponent, "contention")
	FixLease                 = newFix("lease", ActionRetry, EffortCode, "contention")
	FixWorkQueue             = newFix("work_queue", ActionGather, EffortComponent, "contention")
	FixNumberBlocks          = newFix("number_blocks", ActionGather, EffortCode, "contention")
	FixConditionAlone        = newFix("condition_alone", ActionTransaction, EffortCode, "contention")
	FixShuffleInput          = newFix("shuffle_input", ActionShuffle, EffortSetting, "bulk-loads")
	FixBoundedRate           = newFix("bounded_rate", ActionRetry, EffortSetting, "retries")
)

// The fixes for Keyheat itself.
var (
	FixFindUnsampled      = newFix("find_unsampled", ActionPipeline, EffortCode, "")
	FixCheckSamplingRate  = newFix("check_sampling_rate", ActionPipeline, EffortCode, "")
	FixMorePartitions     = newFix("more_partitions", ActionPipeline, EffortSetting, "")
	FixCapacityOfManyKeys = newFix("capacity_of_many_keys", ActionCapacity, EffortSetting, "capacity")
	FixStartCollector     = newFix("start_collector", ActionPipeline, EffortSetting, "")
	FixRestartCollectors  = newFix("restart_collectors", ActionPipeline, EffortSetting, "")
	FixAddCollectors      = newFix("add_collectors", ActionPipeline, EffortSetting, "")
	FixCheckProducers     = newFix("check_producers", ActionPipeline, EffortSetting, "")
	FixMendProducer       = newFix("mend_producer", ActionPipeline, EffortSetting, "")
	FixRaiseTableLimit    = newFix("raise_table_limit", ActionPipeline, EffortSetting, "")
	FixCompareRetention   = newFix("compare_retention", ActionPipeline, EffortSetting, "")
)

// Effort is the work that a step takes.
type Effort string

// The efforts, the least first.
const (
	// EffortNone is to wait.
	EffortNone Effort = "none"
	// EffortSetting is a setting of the table, a client or a running job: minutes of work
	// for whoever is on call.
	EffortSetting Effort = "setting"
	// EffortCode is a release of the callers that changes their requests. Stored items
	// stay.
	EffortCode Effort = "code"
	// EffortComponent is a new component beside the table, such as a cache.
	EffortComponent Effort = "component"
	// EffortItems rewrites stored items, or an index; keys stay.
	EffortItems Effort = "items"
	// EffortKeys changes keys: all their writers and readers, and a migration.
	EffortKeys Effort = "keys"
)

// Efforts lists every effort, the least first.
func Efforts() []Effort {
	return []Effort{EffortNone, EffortSetting, EffortCode, EffortComponent, EffortItems, EffortKeys}
}

// The actions of advice. Their effect and effort order the steps: see
// detect/internal/fixes.
const (
	ActionCaller      = "caller"      // fix the caller
	ActionShuffle     = "shuffle"     // change the order of the input
	ActionRetry       = "retry"       // fix the caller's retries
	ActionSpread      = "spread"      // write a burst later, or over more time
	ActionGather      = "gather"      // write an item less often
	ActionCapacity    = "capacity"    // change the capacity
	ActionWait        = "wait"        // DynamoDB can help by itself
	ActionPrewarm     = "prewarm"     // make room ahead of time
	ActionTransaction = "transaction" // write with a condition, not in a transaction
	ActionRead        = "read"        // read cheaper
	ActionQuery       = "query"       // read fewer bytes a query
	ActionCache       = "cache"       // read less
	ActionScan        = "scan"        // slow a Scan down
	ActionVertical    = "vertical"    // divide items by the attributes that change, or are read
	ActionCompress    = "compress"    // store items compressed
	ActionObject      = "object"      // store large values in S3
	ActionProject     = "project"     // project fewer attributes into an index
	ActionSparse      = "sparse"      // leave items out of an index
	ActionIndex       = "index"       // change the index
	ActionRename      = "rename"      // change the parts of the key
	ActionCopies      = "copies"      // several copies of one item
	ActionSplit       = "split"       // divide one item's value
	ActionShard       = "shard"       // shard the key
	ActionMigrate     = "migrate"     // move stored items to new keys
	ActionPipeline    = "pipeline"    // look after Keyheat itself, or its samples
)

// fixes are the steps of all fixes, without figures.
var fixes = map[Fix]Step{}

func newFix(code Fix, action string, effort Effort, guide string) Fix {
	fixes[code] = Step{Fix: code, Action: action, Effort: effort, Guide: guide}
	return code
}

// Fixes returns the code of every fix, sorted.
func Fixes() []Fix { return slices.Sorted(maps.Keys(fixes)) }
