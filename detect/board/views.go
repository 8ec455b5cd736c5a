package board

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/keydesign"
)

const (
	// viewSeconds is the age at which a view is no evidence any more. A view covers up to
	// 70 minutes.
	viewSeconds = 8 * detect.Horizon
	// silentSeconds is how long after a table's last request its view is evidence of the
	// present.
	silentSeconds = 300
)

// views hold the shape of each target's keys.
type views map[detect.Target]*detect.View

func (vs views) set(target detect.Target, v *detect.View) {
	if v == nil {
		delete(vs, target)
		return
	}
	vs[target] = v
}

// findings returns the findings about targets with few key values, of the views that are
// evidence of the present.
func (vs views) findings(policy func(detect.Target) detect.Policy, isPresent func(detect.Target, *detect.View) bool) (all []detect.Finding) {
	for target, v := range vs {
		if !isPresent(target, v) {
			continue
		}
		if f, few := keydesign.FewValues(v, target, policy(target)); few {
			all = append(all, f)
		}
	}
	return all
}
