package sample

import "math"

// The bounds of a record that can be true. They are generous: nothing that
// DynamoDB can do comes near, and sums of a million records stay far from
// overflow.
const (
	// MaxUnits is the most that one request may consume on one key.
	MaxUnits Milli = 1e9
	// MaxLoad is the most that one record may stand for.
	MaxLoad Milli = 1e12
	// MaxN is the most requests that one record may stand for.
	MaxN = 1_000_000_000
	// MinCalls is the smallest part of a call that one item of it can be: no call
	// has a thousand.
	MinCalls = 1e-3
	// MaxAttempts is the most often that a call may be sent, and MaxWaited the longest
	// that its caller may wait for it: a day, in milliseconds.
	MaxAttempts = 1000
	MaxWaited   = 86_400_000
	// MinRate is the smallest share that may be sampled: below it one sample
	// would stand for more requests than a table serves in a day.
	MinRate = 1e-9
)

// Load returns what the record stands for: n × units ÷ rate, in whole thousandths,
// rounded to the nearest, and never 0 when there were units. Records that a
// Decoder hands out stay within MaxLoad; of others, whatever lies above it is
// cut there.
func (r *Record) Load() (read, write Milli) {
	if r.N == 1 && r.Rate == 1 {
		return min(max(r.RCU, 0), MaxLoad), min(max(r.WCU, 0), MaxLoad)
	}
	return r.load(r.RCU), r.load(r.WCU)
}

// SentCalls is how calls were sent, as records tell it: the calls themselves, their attempts
// and those of them that failed for good, each in thousandths, and for how many
// milliseconds their callers waited in retries.
type Sent struct {
	Calls, Attempts, Failed, Waited int64
}

// Plus adds two.
func (s Sent) Plus(o Sent) Sent {
	return Sent{s.Calls + o.Calls, s.Attempts + o.Attempts, s.Failed + o.Failed, s.Waited + o.Waited}
}

// SentCalls returns what the record says of retries, as often as it stands for others, each
// at most MaxLoad; false where it says nothing. Items of one call add up to it, so
// items of a batch that do not tell how many came together (Calls) say nothing.
func (r *Record) SentCalls() (s Sent, told bool) {
	if r.Attempts == 0 || r.Calls == 0 && r.Op.TakesMany() {
		return s, false
	}
	calls := r.Calls
	if calls == 0 {
		calls = float64(r.N)
	}
	calls /= r.Rate
	s.Calls = roundLoad(1000 * calls)
	s.Attempts = roundLoad(1000 * calls * float64(r.Attempts))
	s.Waited = roundLoad(calls * r.Waited)
	if r.Failed {
		s.Failed = s.Calls
	}
	return s, true
}

func roundLoad(amount float64) int64 { return int64(math.Round(min(amount, float64(MaxLoad)))) }

func (r *Record) load(units Milli) Milli {
	if units <= 0 {
		return 0
	}
	// Up to MaxLoad the product is below 2^53, so the only rounding is the
	// division's own.
	load := math.Round(float64(r.N) * float64(units) / r.Rate)
	if !(load < float64(MaxLoad)) {
		return MaxLoad
	}
	return max(Milli(load), 1)
}
