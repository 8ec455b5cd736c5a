package board

import "github.com/keyheat/keyheat/detect"

// told is a finding that says more, as it was given last.
type relatedFinding struct {
	detect.Finding
	// over is when it was taken back, in settled seconds; 0 while it holds.
	resolvedAt int64
}

// related are the findings that say more, by fingerprint, as they were given last.
type related map[string]relatedFinding

// restore takes up one that another judge left.
func (r related) restore(f *detect.Finding) { r[f.Fingerprint] = relatedFinding{Finding: *f} }

// takeBack adds what was said before and holds no longer, as over: whoever keeps
// findings hears the end of each, for some time, so that a failed write loses
// none. stands says of a finding that it holds though it was not given now.
func (r related) resolveAbsent(current []detect.Finding, settled int64, holds func(*detect.Finding) bool) []detect.Finding {
	present := make(map[string]bool, len(current))
	for i := range current {
		present[current[i].Fingerprint] = true
		r[current[i].Fingerprint] = relatedFinding{Finding: current[i]}
	}
	for fingerprint, previous := range r {
		if present[fingerprint] {
			continue
		}
		if holds(&previous.Finding) {
			current = append(current, previous.Finding)
			continue
		}
		if previous.resolvedAt == 0 {
			previous.State, previous.resolvedAt = detect.Resolved, max(settled, 1)
			r[fingerprint] = previous
		}
		if previous.resolvedAt+detect.Horizon < settled {
			delete(r, fingerprint)
			continue
		}
		current = append(current, previous.Finding)
	}
	return current
}
