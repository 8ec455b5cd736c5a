package casebook

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// TimeKey is a key named after its time, or the pattern of such keys.
const TimeKey detect.Case = "time_key"

var timeKey = Case{
	Code:    TimeKey,
	Subject: detect.SubjectKeys,
	Matches: func(f *detect.Finding) bool { return f.Subject.OfKey() && f.Rolling != nil },
	Futile:  true,
}

// MovingSpot is a load that goes from key to key.
const MovingSpot detect.Case = "moving_spot"

var movingSpot = Case{
	Code:    MovingSpot,
	Subject: detect.SubjectKeys,
	Tonight: func(f *detect.Finding, a *Answer) Act {
		if advises(f, detect.ActionShuffle) {
			return SlowImport
		}
		return a.slow(f)
	},
	Futile: true,
}

// FewValues is a key design with few values.
const FewValues detect.Case = "few_values"

var fewValues = Case{
	Code:    FewValues,
	Subject: detect.SubjectKeys,
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
const TooFewShards detect.Case = "too_few_shards"

var tooFewShards = Case{Code: TooFewShards, Subject: detect.SubjectKeys, Tonight: slowIfHarmed, Futile: true}

// TooManyShards is a sharded key with more key shards than its load needs.
const TooManyShards detect.Case = "too_many_shards"

var tooManyShards = Case{Code: TooManyShards, Subject: detect.SubjectKeys, FormOf: TooFewShards, Heals: healsByDesign, Tonight: slowIfHarmed, Futile: true}

// UnevenShards is a sharded key whose key shards differ in load.
const UnevenShards detect.Case = "uneven_shards"

var unevenShards = Case{Code: UnevenShards, Subject: detect.SubjectKeys, FormOf: TooFewShards, Tonight: slowIfHarmed, Futile: true}

// LargeItem is a large item of which writes change little.
const LargeItem detect.Case = "large_item"

var largeItem = Case{Code: LargeItem, Subject: detect.SubjectItem, FormOf: HotKey, Heals: healsByDesign, Tonight: slowIfHarmed}

// LargeCollection is an item collection that grows towards 10 GB, in a table with a local
// index.
const LargeCollection detect.Case = "large_collection"

var largeCollection = Case{Code: LargeCollection, Subject: detect.SubjectCollection, FormOf: HotKey, Heals: healsByDesign, Tonight: always(CheckSize)}
