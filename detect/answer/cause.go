package answer

import (
	"cmp"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// Cause is why requests are refused, or will be.
type Cause string

// The causes.
const (
	// OneKey is a key that asks for more than one partition serves, OneItem a single item.
	OneKey  Cause = "one_key"
	OneItem Cause = "one_item"
	// AtLimit is a key whose load stays flat at the limit, as if the rest were refused.
	AtLimit Cause = "at_limit"
	// NearLimit is a key that is close to the limit, MayBeOver one that may be above it.
	NearLimit Cause = "near_limit"
	// EventualReads are reads above the limit that DynamoDB may serve all the same.
	EventualReads Cause = "eventual_reads"
	MayBeOver     Cause = "may_be_over"
	// IndexKey is a key of a global index whose partition is full: DynamoDB then refuses
	// writes to the table.
	IndexKey Cause = "index_key"
	// Retries are one caller's repeated attempts.
	Retries Cause = "retries"
	// OneCaller is a caller that makes a key hot by itself, Test one that is named like a
	// test.
	OneCaller Cause = "one_caller"
	Test      Cause = "test"
	// TimeKey is a key named after its time, MovingSpot a load that goes from key to key.
	TimeKey    Cause = "time_key"
	MovingSpot Cause = "moving_spot"
	// FewValues is a key design with few values, Shards a sharded key with the wrong
	// number of key shards, UnevenShards one whose key shards differ.
	FewValues    Cause = "few_values"
	Shards       Cause = "shards"
	UnevenShards Cause = "uneven_shards"
	// Scan is a Scan that reads one partition after another.
	Scan Cause = "scan"
	// Walk is a load that goes through the key space, from partition to partition.
	Walk Cause = "walk"
	// Ramp is a table that grows faster than its partitions.
	Ramp Cause = "ramp"
	// SharedPartition is a full partition without a hot key, BackPressure a full partition
	// of an index that holds the table's writes back.
	SharedPartition Cause = "shared_partition"
	BackPressure    Cause = "back_pressure"
	// The causes of a table that was given too little: provisioned capacity, its owner's
	// maximum, the account's quota, or the write capacity of an index.
	Provisioned   Cause = "provisioned"
	OwnMaximum    Cause = "own_maximum"
	AccountQuota  Cause = "account_quota"
	IndexCapacity Cause = "index_capacity"
	// NoReason is a table that refuses requests for a reason that no sample states.
	NoReason Cause = "no_reason"
	// LargeItem is a large item of which writes change little, Collection one that grows
	// towards 10 GB.
	LargeItem  Cause = "large_item"
	Collection Cause = "collection"
	// Keyheat is trouble of Keyheat itself: it cannot see.
	Keyheat Cause = "keyheat"
)

var causes = map[detect.Kind]Cause{
	detect.RollingHotKey: TimeKey, detect.MovingHotSpot: MovingSpot, detect.LowCardinalityKey: FewValues,
	detect.TooFewShards: Shards, detect.TooManyShards: Shards, detect.UnevenShards: UnevenShards,
	detect.LargeItem: LargeItem, detect.LargeCollection: Collection,
	detect.SingleCaller: OneCaller, detect.TestKey: Test, detect.RetryStorm: Retries,
}

func causeOf(f *detect.Finding) Cause {
	switch {
	case f.Kind.OfKey():
		return causeOfKey(f)
	case f.Kind.OfTable() && f.Ground == detect.GroundScan:
		return Scan
	case f.Kind == detect.TableStarvation:
		return lacks[f.Ground]
	case f.Kind == detect.HotPartition:
		switch f.Ground {
		case detect.GroundPreviousPeak, detect.GroundWarm:
			return Ramp
		case detect.GroundPositions:
			return Walk
		case detect.GroundIndex:
			return BackPressure
		}
		return SharedPartition
	}
	return cmp.Or(causes[f.Kind], Keyheat)
}

func causeOfKey(f *detect.Finding) Cause {
	switch {
	case f.Rolling != nil:
		return TimeKey
	case f.Severity != detect.Critical && f.MayBeServed():
		return EventualReads
	case f.Ground == detect.GroundItem:
		return OneItem
	case f.Kind == detect.HotGSIKey:
		return IndexKey
	case f.SaturatedSeconds > 0 && f.SecondsOver() == 0:
		return AtLimit
	case f.Severity == detect.Critical:
		return OneKey
	case f.PossibleSeconds > 0 && f.SecondsOver() == 0:
		return MayBeOver
	case f.SecondsOver() > 0:
		return OneKey
	}
	return NearLimit
}

var lacks = map[detect.Ground]Cause{
	detect.GroundProvisioned: Provisioned, detect.GroundOwnMaximum: OwnMaximum, detect.GroundAccountQuota: AccountQuota, detect.GroundIndexCapacity: IndexCapacity,
	detect.GroundNoReason: NoReason,
}

// Lack returns the capacity that most requests were refused for. If none was, it is the
// provisioned one, unless requests were refused without a reason and the demand does not
// exceed it.
func Lack(f *detect.Finding) detect.Ground {
	most, lack := int64(0), detect.GroundProvisioned
	for _, c := range []struct {
		reason sample.ThrottleReason
		lack   detect.Ground
	}{
		{sample.Provisioned, detect.GroundProvisioned}, {sample.OfIndexCapacity, detect.GroundIndexCapacity},
		{sample.MaxOnDemand, detect.GroundOwnMaximum}, {sample.AccountLimit, detect.GroundAccountQuota},
	} {
		if n := refusedFor(f, c.reason); n > most {
			most, lack = n, c.lack
		}
	}
	if most == 0 && refusedFor(f, sample.ThrottleUnknown) > 0 && f.Utilization <= 1 {
		return detect.GroundNoReason
	}
	return lack
}

func refusedFor(f *detect.Finding, reason sample.ThrottleReason) int64 {
	if f.Evidence == nil {
		return 0
	}
	return f.Evidence.Refused[reason.String()]
}
