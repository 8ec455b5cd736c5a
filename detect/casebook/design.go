package casebook

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// TimeKey is a key named after its time, or the pattern of such keys.
const TimeKey Code = "time_key"

var timeKey = Case{
	Code: TimeKey,
	Matches: func(f *detect.Finding) bool {
		return f.Kind == detect.RollingHotKey || f.Kind.OfKey() && f.Rolling != nil
	},
	Futile: true,
}

// MovingSpot is a load that goes from key to key.
const MovingSpot Code = "moving_spot"

var movingSpot = Case{
	Code:    MovingSpot,
	Matches: ofKind(detect.MovingHotSpot),
	Tonight: func(f *detect.Finding, a *Answer) Act {
		if advises(f, detect.ActionShuffle) {
			return SlowImport
		}
		return a.slow(f)
	},
	Futile: true,
}

// FewValues is a key design with few values.
const FewValues Code = "few_values"

var fewValues = Case{
	Code:    FewValues,
	Matches: ofKind(detect.LowCardinalityKey),
	Heals: func(f *detect.Finding) Healing {
		if slices.ContainsFunc(f.Advice, func(s detect.Step) bool { return s.Fix == detect.FixSplitMeanwhile }) {
			return Healing{Outlook: Likely, Ground: GroundDesign}
		}
		return healsByDesign(f)
	},
	Tonight: slowIfHarmed,
	Futile:  true,
}

// TooFewShards is a sharded key with too few key shards.
const TooFewShards Code = "too_few_shards"

var tooFewShards = Case{Code: TooFewShards, Matches: ofKind(detect.TooFewShards), Tonight: slowIfHarmed, Futile: true}

// TooManyShards is a sharded key with more key shards than its load needs.
const TooManyShards Code = "too_many_shards"

var tooManyShards = Case{Code: TooManyShards, Matches: ofKind(detect.TooManyShards), Heals: healsByDesign, Tonight: slowIfHarmed, Futile: true}

// UnevenShards is a sharded key whose key shards differ in load.
const UnevenShards Code = "uneven_shards"

var unevenShards = Case{Code: UnevenShards, Matches: ofKind(detect.UnevenShards), Tonight: slowIfHarmed, Futile: true}

// LargeItem is a large item of which writes change little.
const LargeItem Code = "large_item"

var largeItem = Case{Code: LargeItem, Matches: ofKind(detect.LargeItem), Heals: healsByDesign, Tonight: slowIfHarmed}

// LargeCollection is an item collection that grows towards 10 GB, in a table with a local
// index.
const LargeCollection Code = "large_collection"

var largeCollection = Case{Code: LargeCollection, Matches: ofKind(detect.LargeCollection), Heals: healsByDesign, Tonight: slowIfHarmed}
