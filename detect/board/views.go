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
func (vs views) findings(policy func(detect.Target) detect.Policy, facts func(detect.Target) *detect.TableFacts, isPresent func(detect.Target, *detect.View) bool) (all []detect.Finding) {
	for target, v := range vs {
		if !isPresent(target, v) {
			continue
		}
		f, few := keydesign.FewValues(v, target, policy(target))
		if few && !vs.hasMoreElsewhere(target, v, facts(target).Regions(target.Region)) {
			all = append(all, f)
		}
	}
	return all
}

// hasMoreElsewhere reports whether another Region's view of a global table has keys that this
// one lacks: they are replicated to this Region, which perhaps writes none of them.
func (vs views) hasMoreElsewhere(target detect.Target, v *detect.View, regions []string) bool {
	for _, region := range regions {
		other := target
		other.Region = region
		if o := vs[other]; o != nil && o.DistinctKeys.Low > v.DistinctKeys.Value {
			return true
		}
	}
	return false
}
