package board

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/keydesign"
)

// viewSeconds is for how long what a table's keys were like is taken to hold after the
// last request: a view is one of up to an hour and ten minutes, and a table may be quiet
// for a while.
const viewSeconds = 8 * detect.Horizon

// views are what the keys of tables and indexes look like as a whole.
type views map[detect.Target]*detect.View

func (vs views) set(of detect.Target, v *detect.View) {
	if v == nil {
		delete(vs, of)
		return
	}
	vs[of] = v
}

// findings returns those about tables and indexes with few key values. What keys were
// like before `since` is not known to hold any more.
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

// pending reports whether the finding is about a table's keys of which this judge
// has no view yet, as after a restart: then what was found before stands, for as
// long as a view takes.
func (vs views) pending(f *detect.Finding, settled int64) bool {
	return f.Kind == detect.LowCardinalityKey && f.State != detect.Resolved && vs[f.Target] == nil &&
		f.LastSeen.Unix()+2*detect.Horizon >= settled
}
