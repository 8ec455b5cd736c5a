package causes

import (
	"github.com/keyheat/keyheat/detect"
)

// Assign says of each finding which incident it is evidence of. pressed reports
// whether writes to a table were throttled because of one of its indexes.
func Assign(found []detect.Finding, pressed func(detect.Target) bool) {
	moving, few, callers := movingKeys(found), fewValues(found), singleCallers(found)
	for i := range found {
		f := &found[i]
		key := keyOf(f)
		switch {
		case f.Kind.OfTable() || f.Kind == detect.LowCardinalityKey || f.Kind == detect.MovingHotSpot:
			continue // the target as a whole has the cause
		case f.Rolling != nil:
			f.BelongTo(detect.CauseRollingKey, f.Rolling.Template)
		case f.Sharding != nil:
			f.BelongTo(detect.CauseShardedKey, f.Sharding.Pattern())
		case moving[key]:
			f.BelongTo(detect.CauseMovingHotSpot, "")
		case few[f.Target]:
			f.BelongTo(detect.CauseFewValues, "")
		case callers[key] != "":
			f.BelongTo(detect.CauseSingleCaller, callers[key])
		case f.Index != "" && pressed(detect.Target{Account: f.Account, Region: f.Region, Table: f.Table}):
			f.BelongTo(detect.CauseIndexBackPressure, f.KeyType+":"+f.Key)
		default:
			f.BelongTo(detect.CauseHotKey, f.KeyType+":"+f.Key)
		}
	}
	detect.Lift(found)
}

// hotKey is a key that findings are about.
type hotKey struct {
	target       detect.Target
	keyType, key string
}

func keyOf(f *detect.Finding) hotKey { return hotKey{f.Target, f.KeyType, f.Key} }

// fewValues returns the targets whose number of key values bounds them.
func fewValues(found []detect.Finding) map[detect.Target]bool {
	few := map[detect.Target]bool{}
	for i := range found {
		if f := &found[i]; f.Kind == detect.LowCardinalityKey && f.State != detect.Resolved {
			few[f.Target] = true
		}
	}
	return few
}

// singleCallers returns the callers that alone make keys hot.
func singleCallers(found []detect.Finding) map[hotKey]string {
	callers := map[hotKey]string{}
	for i := range found {
		f := &found[i]
		if f.Kind != detect.SingleCaller && f.Kind != detect.TestKey {
			continue
		}
		if f.Evidence != nil && len(f.Evidence.Callers) > 0 {
			callers[keyOf(f)] = f.Evidence.Callers[0].Text
		}
	}
	return callers
}
