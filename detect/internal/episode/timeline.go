package episode

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// Timeline is the progress of event time: seconds after since and up to Settled are
// closed. All closed seconds but the incomplete ones were completely seen.
type Timeline struct {
	since      int64 // where this judge began
	Settled    int64
	incomplete []detect.Span // in order, apart from each other
}

// CompleteSeconds returns the number of seconds after from, up to and including to, that are
// settled and were completely seen.
func (t Timeline) CompleteSeconds(from, to int64) int64 {
	from, to = max(from, t.since), min(to, t.Settled)
	n := max(0, to-from)
	for _, s := range t.incomplete {
		n -= max(0, min(s.To, to)-max(s.From, from+1)+1)
	}
	return max(0, n)
}

// IsQuietSince reports whether enough complete seconds have passed since one to resolve a finding.
func (t Timeline) IsQuietSince(second int64) bool {
	return t.CompleteSeconds(second, t.Settled) >= detect.ResolveSeconds
}

// WasSeen reports whether a second was completely seen, as far as known.
func (t Timeline) WasSeen(second int64) bool {
	return !slices.ContainsFunc(t.incomplete, func(s detect.Span) bool { return s.From <= second && second <= s.To })
}

// Settle closes the seconds up to this one, and reports whether any was open. complete
// reports whether all seconds since the last call were seen. The first call sets where
// this judge begins: earlier seconds were only partly observed.
func (t *Timeline) Settle(second int64, complete bool) bool {
	if t.Settled == 0 {
		t.since, t.Settled = second, second
		return false
	}
	if second <= t.Settled {
		return false
	}
	if !complete {
		t.incomplete = append(t.incomplete, detect.Span{From: t.Settled + 1, To: second})
	}
	t.Settled = second
	return true
}

// Evict drops state that no second after oldest needs.
func (t *Timeline) Evict(oldest int64) {
	t.incomplete = slices.DeleteFunc(t.incomplete, func(s detect.Span) bool { return s.To < oldest-detect.ResolveSeconds })
}
