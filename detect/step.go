package detect

// Step is one piece of advice, with its arithmetic.
type Step struct {
	// Action is one word for programs: see ActionCaller and the others.
	Action string `json:"action"`
	// Text says what to do, and why, with the numbers of the case at hand.
	Text string `json:"text"`
}

// The actions of advice, in the order in which they are given: what costs least
// and helps soonest comes first. Source of the order: the steps that AWS's
// support gives for throttled tables, retries and callers, then capacity, then
// warm throughput, then cheaper reads, then the key.
const (
	ActionCaller   = "caller"   // fix the caller
	ActionShuffle  = "shuffle"  // change the order of the input
	ActionRetry    = "retry"    // fix how it retries
	ActionCapacity = "capacity" // whether capacity helps
	ActionWait     = "wait"     // DynamoDB can help by itself
	ActionPrewarm  = "prewarm"  // make room ahead of time
	ActionRead     = "read"     // read cheaper
	ActionCache    = "cache"    // read less
	ActionScan     = "scan"     // slow a Scan down
	ActionVertical = "vertical" // write smaller items
	ActionIndex    = "index"    // change the index
	ActionRename   = "rename"   // change what the key is made of
	ActionCopies   = "copies"   // several copies of one item
	ActionSplit    = "split"    // divide one item's value
	ActionShard    = "shard"    // shard the key
	ActionMigrate  = "migrate"  // get there
)
