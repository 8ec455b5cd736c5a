package casebook

import (
	"github.com/keyheat/keyheat/detect"
)

// HotKey is a key that asks for more than one partition serves.
const HotKey detect.Case = "hot_key"

var hotKey = Case{
	Code: HotKey,
	Matches: func(f *detect.Finding) bool {
		return f.Subject.OfKey() && (f.Severity == detect.Critical || f.SecondsOver() > 0)
	},
	Futile: true,
}

// HotItem is a single item that has most of what its partition serves.
const HotItem detect.Case = "hot_item"

var hotItem = Case{
	Code: HotItem, FormOf: HotKey,
	Matches: func(f *detect.Finding) bool { return f.Subject.OfKey() && f.Ground == detect.GroundItem },
	Futile:  true,
}

// IndexKey is a key of a global index whose partition is full: DynamoDB then refuses writes
// to the table.
const IndexKey detect.Case = "index_key"

var indexKey = Case{
	Code: IndexKey, FormOf: HotKey,
	Matches: func(f *detect.Finding) bool { return f.Subject == detect.KeyWrites && f.Index != "" },
	Futile:  true,
}

// EventualReads are reads above the limit that DynamoDB may serve all the same.
const EventualReads detect.Case = "eventual_reads"

var eventualReads = Case{
	Code: EventualReads, FormOf: HotKey,
	Matches: func(f *detect.Finding) bool {
		return f.Subject.OfKey() && f.Severity != detect.Critical && f.MayBeServed()
	},
	Tonight: slowIfHarmed,
}

// AtLimit is a key whose load stays flat at the limit, as if the rest were refused.
const AtLimit detect.Case = "at_limit"

var atLimit = Case{
	Code: AtLimit, FormOf: HotKey,
	Matches: func(f *detect.Finding) bool {
		return f.Subject.OfKey() && f.SaturatedSeconds > 0 && f.SecondsOver() == 0
	},
	Tonight: func(f *detect.Finding, a *Answer) Act {
		if a.Harm.None() && !a.Harm.Visible {
			return CheckRefusals
		}
		return a.slow(f)
	},
	Futile: true,
}

// MayBeOver is a key that may be above the limit, as far as samples show it.
const MayBeOver detect.Case = "may_be_over"

var mayBeOver = Case{
	Code: MayBeOver, FormOf: HotKey,
	Matches: func(f *detect.Finding) bool {
		return f.Subject.OfKey() && f.Severity != detect.Critical && f.PossibleSeconds > 0 && f.SecondsOver() == 0
	},
	Tonight: func(f *detect.Finding, a *Answer) Act {
		if a.Harm.None() {
			return CheckRefusals
		}
		return a.slow(f)
	},
}

// NearLimit is a key that is close to the limit.
const NearLimit detect.Case = "near_limit"

var nearLimit = Case{
	Code: NearLimit, FormOf: HotKey,
	Matches: func(f *detect.Finding) bool { return f.Subject.OfKey() },
	Tonight: slowIfHarmed,
}
