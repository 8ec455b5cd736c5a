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

// fewFindings returns the findings about targets with few key values. A view ends with the
// requests that it is about; views of a file always count.
func (b *Board) fewFindings() (all []detect.Finding) {
	for target, v := range b.views {
		newest := max(v.To.Unix()-1, b.totals.sumOf(target).last)
		if !b.options.OneEpisode && (v.To.Unix() < b.timeline.Settled-viewSeconds || newest < b.timeline.Settled-silentSeconds) {
			continue
		}
		if f, few := keydesign.FewValues(v, target, b.options.Policy(target)); few {
			all = append(all, f)
		}
	}
	return all
}
