package detect

import (
	"maps"
	"slices"
)

// Fix is the code of one way to help. It determines a step's action, usual effort and
// section of the guide.
type Fix string

// The fixes for a hot key, the least effort first.
const (
	FixCheckCombined     Fix = "check_combined"    // whether reads and writes together throttle
	FixWaitForSplit      Fix = "wait_for_split"    // of a key
	FixAwaitVerdict      Fix = "await_verdict"     // on whether a split helps
	FixSplitMeanwhile    Fix = "split_meanwhile"   // not worth waiting for
	FixCheckSplit        Fix = "check_split"       // whether DynamoDB has split the key
	FixKeepKey           Fix = "keep_key"          // one key still carries the load
	FixStopTest          Fix = "stop_test"         // a test's load
	FixCalmRetries       Fix = "calm_retries"      // of one caller
	FixMendCaller        Fix = "mend_caller"       // one caller makes the key hot
	FixCheckCapacity     Fix = "check_capacity"    // the table refuses the key's requests
	FixOwnTimes          Fix = "own_times"         // requests carry the times of batches
	FixBackOff           Fix = "back_off"          // all callers retry
	FixSpreadBurst       Fix = "spread_burst"      // writes that may be late
	FixConditionalWrite  Fix = "conditional_write" // in place of a transaction
	FixEventualRead      Fix = "eventual_read"     // in place of a strong one
	FixSmallerQuery      Fix = "smaller_query"     // fewer bytes
	FixDividedCounter    Fix = "divided_counter"   // summed when read
	FixCache             Fix = "cache"
	FixChangingItem      Fix = "changing_item" // what changes, in an item of its own
	FixReadItem          Fix = "read_item"     // what is read, in an item of its own
	FixWrittenItem       Fix = "written_item"  // the same, if little changes
	FixCompression       Fix = "compression"
	FixObjectStore       Fix = "object_store"
	FixSparseIndex       Fix = "sparse_index" // without a value that nobody queries
	FixProjection        Fix = "projection"   // of fewer attributes
	FixIndexKeyOfQueries Fix = "index_key_of_queries"
	FixShardedIndex      Fix = "sharded_index"
	FixIndexKeyOfWrites  Fix = "index_key_of_writes"
	FixCopies            Fix = "copies" // of an item that is read
	FixDividedItem       Fix = "divided_item"
	FixTimeKey           Fix = "time_key" // more than the time in the key
	FixShardedKey        Fix = "sharded_key"
)

// The steps that belong to shards.
const (
	FixPrewarmForShards  Fix = "prewarm_for_shards"
	FixCapacityForCopies Fix = "capacity_for_copies"
	FixMigrateWrites     Fix = "migrate_writes"
	FixMigrateQueue      Fix = "migrate_queue"
	FixMigrateReads      Fix = "migrate_reads"
	FixMigrateIndex      Fix = "migrate_index"
	FixMigrateTimeKey    Fix = "migrate_time_key"
	FixMigrateShards     Fix = "migrate_shards" // of a key that is a shard already
)

// The fixes for a table, an index or several keys.
const (
	FixProvisionedCapacity   Fix = "provisioned_capacity"
	FixIndexCapacity         Fix = "index_capacity"
	FixOwnMaximum            Fix = "own_maximum"
	FixAccountQuota          Fix = "account_quota"
	FixNamedCapacity         Fix = "named_capacity" // the one that CloudWatch's reasons name
	FixFindIndexKey          Fix = "find_index_key"
	FixSlowScan              Fix = "slow_scan"
	FixPrewarmNewTable       Fix = "prewarm_new_table"
	FixPrewarm               Fix = "prewarm"
	FixPrewarmForRamp        Fix = "prewarm_for_ramp"
	FixSlowRamp              Fix = "slow_ramp"
	FixWaitForPartitionSplit Fix = "wait_for_partition_split"
	FixContributorInsights   Fix = "contributor_insights"
	FixBoundedCollection     Fix = "bounded_collection"
	FixMoreValues            Fix = "more_values"
	FixIndexShards           Fix = "index_shards" // behind each of few values
	FixMoreShards            Fix = "more_shards"
	FixFewerShards           Fix = "fewer_shards"
	FixEvenShards            Fix = "even_shards"
	FixShuffleInput          Fix = "shuffle_input"
	FixBoundedRate           Fix = "bounded_rate"
)

// The fixes for Keyheat itself.
const (
	FixFindUnsampled      Fix = "find_unsampled"
	FixCheckSamplingRate  Fix = "check_sampling_rate"
	FixMorePartitions     Fix = "more_partitions"
	FixCapacityOfManyKeys Fix = "capacity_of_many_keys"
	FixStartCollector     Fix = "start_collector"
	FixRestartCollectors  Fix = "restart_collectors"
	FixAddCollectors      Fix = "add_collectors"
	FixMendProducer       Fix = "mend_producer"
	FixRaiseTableLimit    Fix = "raise_table_limit"
	FixCompareRetention   Fix = "compare_retention"
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

// about is what a fix is.
type about struct {
	action string
	effort Effort
	guide  string
}

var fixes = map[Fix]about{
	FixCheckCombined:     {ActionWait, EffortNone, "capacity"},
	FixWaitForSplit:      {ActionWait, EffortNone, "waiting"},
	FixAwaitVerdict:      {ActionWait, EffortNone, "waiting"},
	FixSplitMeanwhile:    {ActionWait, EffortNone, "waiting"},
	FixCheckSplit:        {ActionWait, EffortNone, "waiting"},
	FixKeepKey:           {ActionShard, EffortNone, "shards"},
	FixStopTest:          {ActionCaller, EffortSetting, "callers"},
	FixCalmRetries:       {ActionRetry, EffortSetting, "retries"},
	FixMendCaller:        {ActionCaller, EffortSetting, "callers"},
	FixCheckCapacity:     {ActionCapacity, EffortSetting, "capacity"},
	FixOwnTimes:          {ActionPipeline, EffortCode, "times-of-requests"},
	FixBackOff:           {ActionRetry, EffortCode, "retries"},
	FixSpreadBurst:       {ActionSpread, EffortCode, "retries"},
	FixConditionalWrite:  {ActionTransaction, EffortCode, "conditional-writes"},
	FixEventualRead:      {ActionRead, EffortCode, "reads"},
	FixSmallerQuery:      {ActionQuery, EffortCode, "queries"},
	FixDividedCounter:    {ActionSplit, EffortCode, "counters"},
	FixCache:             {ActionCache, EffortComponent, "caches"},
	FixChangingItem:      {ActionVertical, EffortItems, "large-items"},
	FixReadItem:          {ActionVertical, EffortItems, "large-items"},
	FixWrittenItem:       {ActionVertical, EffortItems, "large-items"},
	FixCompression:       {ActionCompress, EffortItems, "large-items"},
	FixObjectStore:       {ActionObject, EffortItems, "large-items"},
	FixSparseIndex:       {ActionSparse, EffortItems, "indexes"},
	FixProjection:        {ActionProject, EffortItems, "indexes"},
	FixIndexKeyOfQueries: {ActionIndex, EffortKeys, "indexes"},
	FixShardedIndex:      {ActionShard, EffortKeys, "indexes"},
	FixIndexKeyOfWrites:  {ActionIndex, EffortKeys, "indexes"},
	FixCopies:            {ActionCopies, EffortKeys, "caches"},
	FixDividedItem:       {ActionSplit, EffortKeys, "counters"},
	FixTimeKey:           {ActionRename, EffortKeys, "time-keys"},
	FixShardedKey:        {ActionShard, EffortKeys, "shards"},

	FixPrewarmForShards:  {ActionPrewarm, EffortSetting, "capacity"},
	FixCapacityForCopies: {ActionCapacity, EffortSetting, "capacity"},
	FixMigrateWrites:     {ActionMigrate, EffortKeys, "migration"},
	FixMigrateQueue:      {ActionMigrate, EffortKeys, "migration"},
	FixMigrateReads:      {ActionMigrate, EffortKeys, "migration"},
	FixMigrateIndex:      {ActionMigrate, EffortKeys, "migration"},
	FixMigrateTimeKey:    {ActionMigrate, EffortKeys, "migration"},
	FixMigrateShards:     {ActionMigrate, EffortKeys, "migration"},

	FixProvisionedCapacity:   {ActionCapacity, EffortSetting, "capacity"},
	FixIndexCapacity:         {ActionCapacity, EffortSetting, "capacity"},
	FixOwnMaximum:            {ActionCapacity, EffortSetting, "capacity"},
	FixAccountQuota:          {ActionCapacity, EffortSetting, "capacity"},
	FixNamedCapacity:         {ActionCapacity, EffortSetting, "capacity"},
	FixFindIndexKey:          {ActionIndex, EffortItems, "indexes"},
	FixSlowScan:              {ActionScan, EffortCode, "scans"},
	FixPrewarmNewTable:       {ActionPrewarm, EffortSetting, "capacity"},
	FixPrewarm:               {ActionPrewarm, EffortSetting, "capacity"},
	FixPrewarmForRamp:        {ActionPrewarm, EffortSetting, "capacity"},
	FixSlowRamp:              {ActionRetry, EffortSetting, "capacity"},
	FixWaitForPartitionSplit: {ActionWait, EffortNone, "waiting"},
	FixContributorInsights:   {ActionPipeline, EffortSetting, ""},
	FixBoundedCollection:     {ActionRename, EffortKeys, "large-collections"},
	FixMoreValues:            {ActionRename, EffortKeys, "few-values"},
	FixIndexShards:           {ActionIndex, EffortItems, "few-values"},
	FixMoreShards:            {ActionShard, EffortCode, "shards"},
	FixFewerShards:           {ActionShard, EffortKeys, "shards"},
	FixEvenShards:            {ActionShard, EffortCode, "shards"},
	FixShuffleInput:          {ActionShuffle, EffortSetting, "bulk-loads"},
	FixBoundedRate:           {ActionRetry, EffortSetting, "retries"},

	FixFindUnsampled:      {ActionPipeline, EffortCode, ""},
	FixCheckSamplingRate:  {ActionPipeline, EffortCode, ""},
	FixMorePartitions:     {ActionPipeline, EffortSetting, ""},
	FixCapacityOfManyKeys: {ActionCapacity, EffortSetting, "capacity"},
	FixStartCollector:     {ActionPipeline, EffortSetting, ""},
	FixRestartCollectors:  {ActionPipeline, EffortSetting, ""},
	FixAddCollectors:      {ActionPipeline, EffortSetting, ""},
	FixMendProducer:       {ActionPipeline, EffortSetting, ""},
	FixRaiseTableLimit:    {ActionPipeline, EffortSetting, ""},
	FixCompareRetention:   {ActionPipeline, EffortSetting, ""},
}

// Fixes returns the code of every fix, sorted.
func Fixes() []Fix { return slices.Sorted(maps.Keys(fixes)) }
