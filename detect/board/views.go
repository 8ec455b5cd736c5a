package board

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/keydesign"
)

// viewSeconds is how long a view of a table's keys stays valid after the last request. A
// view covers up to 70 minutes, and a table may be quiet for a while.
const viewSeconds = 8 * detect.Horizon

// views hold the shape of each target's keys.
type views map[detect.Target]*detect.View

func (vs views) set(target detect.Target, v *detect.View) {
	if v == nil {
		delete(vs, target)
		return
	}
	vs[target] = v
}

// findings returns the findings about targets with few key values. Views that ended
// before `since` are too old.
func (vs views) findings(policy func(detect.Target) detect.Policy, since int64) (all []detect.Finding) {
	for target, v := range vs {
		if v.To.Unix() < since {
			continue
		}
		if f, few := keydesign.FewValues(v, target, policy(target)); few {
			all = append(all, f)
		}
	}
	return all
}

// lacksView reports whether this judge has no view yet of the finding's table, as after a
// restart. The earlier finding then stands for as long as a view takes.
func (vs views) lacksView(f *detect.Finding, settled int64) bool {
	return f.Kind == detect.LowCardinalityKey && f.State != detect.Resolved && vs[f.Target] == nil &&
		f.LastSeen.Unix()+2*detect.Horizon >= settled
}
