package board

import "github.com/keyheat/keyheat/detect"

// related holds the findings about how keys are made, or about several hot keys (see
// [casebook.NewRelated]), by fingerprint, as last returned.
type related map[string]relatedFinding

type relatedFinding struct {
	detect.Finding
	// resolvedAt is the settled second when the finding ceased to hold; 0 while it
	// holds.
	resolvedAt int64
}

// selectTarget returns the findings about a table or index.
func (r related) selectTarget(target detect.Target) related {
	own := related{}
	for fingerprint, f := range r {
		if f.Target == target {
			own[fingerprint] = f
		}
	}
	return own
}

// resolveAbsent returns the current findings, and marks earlier ones that no longer hold
// as resolved. Resolved findings are returned for a horizon, so that a store sees each
// end even if a write fails.
func (r related) resolveAbsent(current []detect.Finding, settled int64) []detect.Finding {
	present := make(map[string]bool, len(current))
	for i := range current {
		present[current[i].Fingerprint] = true
		r[current[i].Fingerprint] = relatedFinding{Finding: current[i]}
	}
	for fingerprint, previous := range r {
		if present[fingerprint] {
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
