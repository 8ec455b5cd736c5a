package awssdk

// Pace is the adaptive rate, for tests that choose time and chance.
type Pace struct{ p pace }

// NewPace makes the rate for so many records a second.
func NewPace(limit int) *Pace { return &Pace{pace{limit: float64(limit)}} }

// Admit asks the pace for one request.
func (p *Pace) Admit(second int64, records int, chance float64) (float64, bool) {
	return p.p.admit(second, records, chance)
}
