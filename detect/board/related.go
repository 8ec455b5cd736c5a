package board

import "github.com/keyheat/keyheat/detect"

// told is a finding that says more, as it was given last.
type told struct {
	detect.Finding
	// over is when it was taken back, in settled seconds; 0 while it holds.
	over int64
}

// related are the findings that say more, by fingerprint, as they were given last.
type related map[string]told

// restore takes up one that another judge left.
func (r related) restore(f *detect.Finding) { r[f.Fingerprint] = told{Finding: *f} }

// takeBack adds what was said before and holds no longer, as over: whoever keeps
// findings hears the end of each, for some time, so that a failed write loses
// none. stands says of a finding that it holds though it was not given now.
func (r related) takeBack(said []detect.Finding, settled int64, stands func(*detect.Finding) bool) []detect.Finding {
	now := make(map[string]bool, len(said))
	for i := range said {
		now[said[i].Fingerprint] = true
		r[said[i].Fingerprint] = told{Finding: said[i]}
	}
	for print, t := range r {
		if now[print] {
			continue
		}
		if stands(&t.Finding) {
			said = append(said, t.Finding)
			continue
		}
		if t.over == 0 {
			t.State, t.over = detect.Resolved, max(settled, 1)
			r[print] = t
		}
		if t.over+detect.Horizon < settled {
			delete(r, print)
			continue
		}
		said = append(said, t.Finding)
	}
	return said
}
