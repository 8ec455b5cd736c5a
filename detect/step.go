package detect

// Step is one piece of advice, with its arithmetic. The first step of a finding is
// something to do.
type Step struct {
	// Action is one word for programs: see ActionCaller and the others.
	Action string `json:"action"`
	// Text says what to do, and why, with the numbers of the case at hand.
	Text string `json:"text"`
	// Effort is what it takes; empty of a remark, which is nothing to do.
	Effort Effort `json:"effort"`
	// After is the load that it leaves; null of a remark, and where the evidence does
	// not tell.
	After *After `json:"after"`
	// Basis is what of the evidence After, or the step itself, rests on, or why After
	// cannot be told; empty where that is only what the finding is.
	Basis string `json:"basis"`
	// Capacity is what the table or index as a whole needs once the step is done, against
	// what it has; empty where that stays as it is, and where nothing tells.
	Capacity string `json:"capacity"`
	// Guide is the section of docs/KEY_DESIGN.md with more about it; empty without one.
	Guide string `json:"guide"`
	// Names are those of the shards that the step makes; null where it makes none.
	Names *ShardNames `json:"names"`
}

// ShardNames are the partition keys of shards: the base with a number, 0 to Shards-1,
// between Before and After, behind the base or, where Prefix holds, before it. Where
// Alone does the number is all of the key, and the base is in the sort key.
type ShardNames struct {
	Base   string `json:"base"`
	Shards int    `json:"shards"`
	Before string `json:"before"`
	After  string `json:"after"`
	Prefix bool   `json:"prefix"`
	Alone  bool   `json:"alone"`
	// Suffix is how the number of an item is chosen.
	Suffix Suffix `json:"suffix"`
}

// Suffix is how an item finds its shard.
type Suffix string

// The ways to choose a shard.
const (
	// SuffixRandom is for items that are read all together.
	SuffixRandom Suffix = "random"
	// SuffixCalculated is for items that are read back or changed one by one.
	SuffixCalculated Suffix = "calculated"
	// SuffixCounter is random, of items that are added to and summed.
	SuffixCounter Suffix = "counter"
)

// After is the load on what is fullest once a step is done, in the peak's second: on
// the key, or on the fullest of the shards or parts that it becomes. Where the evidence
// leaves it open it is between Low and High. Of a step that waits for splits it is a mean,
// since DynamoDB splits by the load of minutes.
type After struct {
	// Unit is wcu or rcu.
	Unit string  `json:"unit"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// LowUtilization and HighUtilization are the same as shares of the limit.
	LowUtilization  float64 `json:"low_utilization"`
	HighUtilization float64 `json:"high_utilization"`
}

// NewAfter returns a load between two amounts, in units a second, of what a kind is
// about.
func NewAfter(k Kind, low, high float64) *After {
	limit := Units(Limit(k))
	return &After{Unit: Side(k, "wcu", "rcu"), Low: low, High: high, LowUtilization: low / limit, HighUtilization: high / limit}
}

// Effort is what a step takes.
type Effort string

// The efforts, the least first.
const (
	// EffortNone is to wait.
	EffortNone Effort = "none"
	// EffortSetting is a setting of the table, of a client or of a job that runs:
	// minutes, by whoever is on call.
	EffortSetting Effort = "setting"
	// EffortCode is another way to make the same requests: a release of the callers,
	// and nothing that is stored changes.
	EffortCode Effort = "code"
	// EffortComponent is something new beside the table, such as a cache.
	EffortComponent Effort = "component"
	// EffortItems is that stored items, or an index, are made anew; keys stay.
	EffortItems Effort = "items"
	// EffortKeys is that keys change: all that writes or reads them, and a migration.
	EffortKeys Effort = "keys"
)

// Efforts lists every effort, the least first.
func Efforts() []Effort {
	return []Effort{EffortNone, EffortSetting, EffortCode, EffortComponent, EffortItems, EffortKeys}
}

// The actions of advice. In which order steps come follows from their effect and
// effort: see detect/internal/fixes.
const (
	ActionCaller      = "caller"      // fix the caller
	ActionShuffle     = "shuffle"     // change the order of the input
	ActionRetry       = "retry"       // fix how it retries
	ActionSpread      = "spread"      // write a burst later, or over more time
	ActionCapacity    = "capacity"    // whether capacity helps
	ActionWait        = "wait"        // DynamoDB can help by itself
	ActionPrewarm     = "prewarm"     // make room ahead of time
	ActionTransaction = "transaction" // write with a condition, not in a transaction
	ActionRead        = "read"        // read cheaper
	ActionQuery       = "query"       // read fewer bytes a query
	ActionCache       = "cache"       // read less
	ActionScan        = "scan"        // slow a Scan down
	ActionVertical    = "vertical"    // divide items by what changes, or is read
	ActionCompress    = "compress"    // store items compressed
	ActionObject      = "object"      // store large values in S3
	ActionProject     = "project"     // project fewer attributes into an index
	ActionSparse      = "sparse"      // leave items out of an index
	ActionIndex       = "index"       // change the index
	ActionRename      = "rename"      // change what the key is made of
	ActionCopies      = "copies"      // several copies of one item
	ActionSplit       = "split"       // divide one item's value
	ActionShard       = "shard"       // shard the key
	ActionMigrate     = "migrate"     // get there
	ActionPipeline    = "pipeline"    // look after Keyheat itself, or its samples
)
