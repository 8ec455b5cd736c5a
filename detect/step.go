package detect

// Step is one piece of advice, with its arithmetic. The first step of a finding is
// something to do.
type Step struct {
	// Action is one word for programs: see ActionCaller and the others.
	Action string `json:"action"`
	// Text is the instruction and its reason, with the numbers of the case at hand.
	Text string `json:"text"`
	// Effort is the work that the step takes; empty for a remark.
	Effort Effort `json:"effort"`
	// After is the load that remains after the step. It is null for a remark, and if the
	// evidence does not decide it.
	After *After `json:"after"`
	// Basis is the evidence behind After, or behind the step itself, or the reason why
	// After is unknown. It is empty if the finding alone is the basis.
	Basis string `json:"basis"`
	// Capacity compares the capacity that the table or index needs after the step with
	// its present capacity. It is empty if the need does not change or is unknown.
	Capacity string `json:"capacity"`
	// Guide is the section of docs/KEY_DESIGN.md with more about it; empty without one.
	Guide string `json:"guide"`
	// Names are the names of the shards that the step makes; null if it makes none.
	Names *ShardNames `json:"names"`
}

// ShardNames are the partition keys of shards. Each is the base with a number, 0 to
// Shards-1, between Before and After. The number stands behind the base or, with Prefix,
// before it. With Alone the number is the whole key, and the base is in the sort key.
type ShardNames struct {
	Base   string `json:"base"`
	Shards int    `json:"shards"`
	Before string `json:"before"`
	After  string `json:"after"`
	Prefix bool   `json:"prefix"`
	Alone  bool   `json:"alone"`
	// Suffix is the way to choose an item's number.
	Suffix Suffix `json:"suffix"`
}

// Suffix is the way to choose an item's shard.
type Suffix string

const (
	// SuffixRandom is for items that are read all together.
	SuffixRandom Suffix = "random"
	// SuffixCalculated is for items that are read back or changed one by one.
	SuffixCalculated Suffix = "calculated"
	// SuffixCounter is random, for counters that are summed when read.
	SuffixCounter Suffix = "counter"
)

// After is the load after a step in the peak's second, on the key or on the fullest of
// its new shards or parts. It is between Low and High, as far as the evidence shows. For
// a step that waits for splits it is a mean, since DynamoDB splits by the load of
// minutes.
type After struct {
	// Unit is wcu or rcu.
	Unit string  `json:"unit"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// LowUtilization and HighUtilization are the same as shares of the limit.
	LowUtilization  float64 `json:"low_utilization"`
	HighUtilization float64 `json:"high_utilization"`
}

// NewAfter returns a load between two amounts, in units a second of the kind's side.
func NewAfter(k Kind, low, high float64) *After {
	limit := Units(Limit(k))
	return &After{Unit: Side(k, "wcu", "rcu"), Low: low, High: high, LowUtilization: low / limit, HighUtilization: high / limit}
}

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
	ActionCapacity    = "capacity"    // change the capacity, or explain why it does not help
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
