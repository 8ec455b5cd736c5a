package detect

// Ground is why a table will or will not heal itself, or why that is unknown.
type Ground string

// Splits reports whether splits would have divided the load of the last minutes over
// partitions that serve it: adaptive capacity can help, after some minutes.
func (g Ground) Splits() bool { return g == GroundSplit || g == GroundKeys }

// IsRamp reports whether an on-demand table is asked for more than it serves at once: its
// warm throughput, or twice its previous peak.
func (g Ground) IsRamp() bool { return g == GroundPreviousPeak || g == GroundWarm }

// The grounds against a split.
const (
	GroundItem       Ground = "item"        // one item stays in one partition
	GroundLocalIndex Ground = "local_index" // a table with a local index never splits a key
	GroundSortKey    Ground = "sort_key"    // the load follows the sort key
	GroundMoving     Ground = "moving"      // the load moves on before a split comes
	GroundPeriod     Ground = "time"        // the next period's key begins in one partition again
	GroundBursts     Ground = "bursts"      // a split does not help bursts
	GroundPositions  Ground = "positions"   // the load goes from partition to partition, in their order
	GroundScan       Ground = "scan"        // a Scan goes from partition to partition
)

// The grounds for a split.
const (
	GroundSplit Ground = "split" // a split divides the load of the key
	GroundKeys  Ground = "keys"  // a split divides the keys of the partition
)

// The grounds of a table that grows faster than its partitions.
const (
	GroundPreviousPeak Ground = "previous_peak"
	GroundWarm         Ground = "warm_throughput"
)

// The grounds of an open outlook.
const (
	GroundBatchTimes Ground = "batch_times"  // requests carry the times of batches
	GroundFewSamples Ground = "few_samples"  // fewer than MinRecords requests were seen
	GroundNoSortKeys Ground = "no_sort_keys" // requests carry no sort keys
	GroundHashedKeys Ground = "hashed_keys"  // hashed sort keys have no order
	GroundYoung      Ground = "few_seconds"  // fewer than SplitSeconds were observed
	GroundCutShort   Ground = "cut_short"    // the samples end before that
	GroundPlaces     Ground = "places"       // the load follows the sort key in several places
	GroundNotDecided Ground = "not_decided"  // the sort keys leave it open
	GroundNotSeen    Ground = "not_seen"     // the samples do not show which keys share the partition
	GroundWarmKey    Ground = "warm_key"     // the key is not hot, but lies in a full partition
	GroundIndex      Ground = "index"        // a full partition of an index holds the table's writes back
)

// The grounds of a table or index with too little capacity: its own, the maximum that its
// owner set, the account's quota, and the write capacity of an index.
const (
	GroundProvisioned   Ground = "provisioned"
	GroundOwnMaximum    Ground = "own_maximum"
	GroundAccountQuota  Ground = "account_quota"
	GroundIndexCapacity Ground = "index_capacity"
	// GroundNoReason stands for any of them, or for a full partition: the samples lack
	// DynamoDB's throttle reasons.
	GroundNoReason Ground = "no_reason"
)
