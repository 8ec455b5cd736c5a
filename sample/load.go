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
	// MinRate is the smallest share that may be sampled: below it one sample
	// would stand for more requests than a table serves in a day.
	MinRate = 1e-9
)

// Load returns what the record stands for: n × units ÷ rate, in whole thousandths,
// rounded to the nearest, and never 0 when there were units. Records that a
// Decoder hands out stay within MaxLoad; of others, whatever lies above it is
// cut there.
func (r *Record) Load() (read, write Milli) {
	return r.load(r.RCU), r.load(r.WCU)
}

func (r *Record) load(units Milli) Milli {
	if units <= 0 {
		return 0
	}
	if r.N == 1 && r.Rate == 1 {
		return min(units, MaxLoad)
	}
	// Up to MaxLoad the product is below 2^53, so the only rounding is the
	// division's own.
	load := math.Round(float64(r.N) * float64(units) / r.Rate)
	if !(load < float64(MaxLoad)) {
		return MaxLoad
	}
	return max(Milli(load), 1)
}
