package episode

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// refusals add up an episode's load from its first throttled second to its last. The zero
// value is ready.
type refusals struct {
	first, last          int64
	throttled, requested sample.Milli
	// calm is the load since last.
	calm sample.Milli
}

// add adds a second.
func (r *refusals) add(second int64, throttled, requested sample.Milli) {
	switch {
	case throttled > 0:
		if r.first == 0 {
			r.first = second
		}
		r.last = second
		r.throttled, r.requested, r.calm = r.throttled+throttled, r.requested+r.calm+requested, 0
	case r.first != 0:
		r.calm += requested
	}
}

// throttling returns the sums as a finding shows them; nil without a throttled second.
func (r *refusals) throttling() *detect.Throttling {
	if r.first == 0 {
		return nil
	}
	return &detect.Throttling{
		From: detect.TimeOf(r.first), To: detect.TimeOf(r.last),
		Units: detect.Units(r.throttled), Share: min(1, detect.Ratio(float64(r.throttled), float64(r.requested))),
	}
}
