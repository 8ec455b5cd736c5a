// Package scenario generates traffic for the tests below detect: seconds in which keys
// have a known load, complete or sampled. It is test support, and no program imports it.
package scenario

import (
	"math"
	"math/rand/v2"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Began is the first second of every scenario, in Unix seconds.
const Began = int64(1_763_690_400)

// Seed is the hash seed of the scenarios' windows.
const Seed = 99

// Milli converts units to thousandths.
func Milli(units float64) sample.Milli { return sample.Milli(units*1000 + 0.5) }

// Hash returns a key's hash in the windows of scenarios.
func Hash(table, index string, key sample.Key) uint64 {
	return sketch.Hash(sample.Target{Table: table, Index: index}, key, Seed)
}

// LoadedWindow returns a second of the table orders. Each key has the given write units,
// and one request for each unit.
func LoadedWindow(second int64, units float64, keys ...string) *sketch.Window {
	w := &sketch.Window{Target: sample.Target{Table: "orders"}, Second: second}
	for _, key := range keys {
		k := sample.KeyString(key)
		l := sketch.Load{Write: Milli(units)}
		w.Total.Requests += int64(units)
		w.Total.Load = w.Total.Plus(l)
		w.Keys = append(w.Keys, sketch.KeyLoad{Hash: Hash("orders", "", k), Key: k, Requests: int64(units), Low: l})
	}
	return w
}

// SealedWindows returns a shard's windows, and empties it.
func SealedWindows(s *sketch.Shard) []sketch.Window {
	d := sketch.NewDelta(sketch.Config{})
	s.Seal(d)
	return d.Windows
}

// Traffic is the sampled load of the key user#42.
type Traffic struct {
	// Requests is the mean number of requests a second.
	Requests float64
	// Units draws the units of a request, Rate its sampling rate.
	Units func(*rand.Rand) float64
	Rate  func(*rand.Rand) float64
}

// Second draws one second and returns the true load in units. The shard gets the sampled
// requests.
func (c Traffic) Second(r *rand.Rand, s *sketch.Shard, at int64) (truth float64) {
	for range Poisson(r, c.Requests) {
		w, p := c.Units(r), c.Rate(r)
		truth += w
		if r.Float64() >= p {
			continue
		}
		record := sample.Record{
			Time: at * 1000, Table: "orders", PK: sample.KeyString("user#42"), Op: sample.UpdateItem,
			WCU: Milli(w), Rate: p, N: 1,
		}
		if err := s.Add(&record); err != nil {
			panic(err)
		}
	}
	return truth
}

// Constant always draws v.
func Constant(v float64) func(*rand.Rand) float64 { return func(*rand.Rand) float64 { return v } }

// Unequal draws the units of a request, from 1 to 24, as the real trace has them.
func Unequal(r *rand.Rand) float64 {
	switch x := r.IntN(100); {
	case x < 25:
		return 1
	case x < 75:
		return 2
	case x < 94:
		return float64(4 + r.IntN(7))
	}
	return float64(10 + r.IntN(15))
}

// Poisson draws a count with the given mean.
func Poisson(r *rand.Rand, mean float64) int {
	if mean > 50 { // close enough, and quick
		return max(0, int(math.Round(mean+math.Sqrt(mean)*r.NormFloat64())))
	}
	n, p := 0, r.Float64()
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= r.Float64()
	}
	return n
}
