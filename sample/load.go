package sample

import "math"

// Bounds of a record. They are generous: DynamoDB stays far below them, and sums of a million
// records stay far from overflow.
const (
	// MaxUnits is the most units that one request may consume on one key.
	MaxUnits Milli = 1e9
	// MaxLoad is the most load that one record may represent.
	MaxLoad Milli = 1e12
	// MaxN is the most requests that one record may represent.
	MaxN = 1_000_000_000
	// MinCalls is the smallest part of a call that one item can be. No call has a thousand
	// items.
	MinCalls = 1e-3
	// MaxAttempts is the most attempts of a call, and MaxWaited the longest wait of its caller
	// in milliseconds: a day.
	MaxAttempts = 1000
	MaxWaited   = 86_400_000
	// MinRate is the smallest sampling rate. Below it, one sample would represent more requests
	// than a table serves in a day.
	MinRate = 1e-9
)

// Load returns the load that the record represents: n × units ÷ rate, in whole thousandths,
// rounded to the nearest, and never 0 if there are units. Loads above MaxLoad are cut there; a
// decoder's records stay within it.
func (r *Record) Load() (read, write Milli) {
	if r.N == 1 && r.Rate == 1 {
		return min(max(r.RCU, 0), MaxLoad), min(max(r.WCU, 0), MaxLoad)
	}
	return r.load(r.RCU), r.load(r.WCU)
}

// Sent adds up calls: the calls, their attempts, and the calls that failed after all retries,
// in thousandths, and the milliseconds that callers waited in retries.
type Sent struct {
	Calls, Attempts, Failed, Waited int64
}

// Plus adds two sums.
func (s Sent) Plus(o Sent) Sent {
	return Sent{s.Calls + o.Calls, s.Attempts + o.Attempts, s.Failed + o.Failed, s.Waited + o.Waited}
}

// SentCalls returns the calls that the record represents, each sum at most MaxLoad. It returns
// false if the record does not count attempts. The items of one call add up to the call, so an
// item of a batch without Calls returns false too.
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
	// Up to MaxLoad the product is below 2^53, so only the division rounds.
	load := math.Round(float64(r.N) * float64(units) / r.Rate)
	if !(load < float64(MaxLoad)) {
		return MaxLoad
	}
	return max(Milli(load), 1)
}
