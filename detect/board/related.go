package board

import "github.com/keyheat/keyheat/detect"

// related are the findings that describe what is hot, or how keys are made (see
// [detect.NewRelated]), by fingerprint, as they were last returned.
type related map[string]relatedFinding

type relatedFinding struct {
	detect.Finding
	// resolvedAt is the settled second in which it no longer held; 0 while it
	// does.
	resolvedAt int64
}

// restore continues a finding that another judge left.
func (r related) restore(f *detect.Finding) { r[f.Fingerprint] = relatedFinding{Finding: *f} }

// resolveAbsent returns the current findings together with those that held before
// and hold no longer, as resolved. These are returned for a horizon, so that
// whoever stores findings learns of each end even when a write fails. holds
// reports whether a finding stands although it is not among the current ones.
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
			previous.State = detect.Pending // of what it explains, the judge before this one knew
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
