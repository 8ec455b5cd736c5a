package episode

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// span is a stretch of seconds, both ends included.
type span struct{ from, to int64 }

// Timeline is what is known of event time: seconds after since and up to settled
// are closed, and of those all but the incomplete ones were wholly seen.
type Timeline struct {
	since      int64 // where this judge began
	Settled    int64
	incomplete []span // in order, apart from each other
}

// complete counts the seconds after from, up to and including to, that are
// settled and were wholly seen.
func (t Timeline) complete(from, to int64) int64 {
	from, to = max(from, t.since), min(to, t.Settled)
	n := max(0, to-from)
	for _, s := range t.incomplete {
		n -= max(0, min(s.to, to)-max(s.from, from+1)+1)
	}
	return max(0, n)
}

// Settle closes the seconds up to this one, and says whether that is news.
// complete says that nothing of the seconds since the last call was missing. The
// first call says where this judge begins: what went before was not wholly seen by
// it.
func (t *Timeline) Settle(second int64, complete bool) bool {
	if t.Settled == 0 {
		t.since, t.Settled = second, second
		return false
	}
	if second <= t.Settled {
		return false
	}
	if !complete {
		t.incomplete = append(t.incomplete, span{t.Settled + 1, second})
	}
	t.Settled = second
	return true
}

// Forget drops what no second after oldest asks for.
func (t *Timeline) Forget(oldest int64) {
	t.incomplete = slices.DeleteFunc(t.incomplete, func(s span) bool { return s.to < oldest-detect.ResolveSeconds })
}
