// Package scenario makes traffic for the tests below detect: seconds in which
// keys have a known load, whole or as samples show it. It is test support, and no
// program imports it.
package scenario

import (
	"math"
	"math/rand/v2"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Began is the first second of every scenario, in Unix seconds.
const Began = int64(1_763_690_400)

// Seed is the hash seed of the windows that scenarios make.
const Seed = 99

// Milli returns units in thousandths.
func Milli(units float64) sample.Milli { return sample.Milli(units*1000 + 0.5) }

// Hash returns the hash that a window of a scenario has for a key.
func Hash(table, index string, key sample.Key) uint64 {
	return sketch.Hash(sample.Target{Table: table, Index: index}, key, Seed)
}

// LoadedWindow returns a second of the table orders in which each of the keys has so
// many write units, and a request for each of them.
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

// SealedWindows returns what a shard holds, and empties it.
func SealedWindows(s *sketch.Shard) []sketch.Window {
	d := sketch.NewDelta(sketch.Config{})
	s.Seal(d)
	return d.Windows
}

// Traffic is the load of the key user#42: requests of some units, a share of
// which are sampled.
type Traffic struct {
	// Requests is how many there are a second, on average.
	Requests float64
	// Units draws the units of a request, Rate the rate that it is sampled at.
	Units func(*rand.Rand) float64
	Rate  func(*rand.Rand) float64
}

// Second draws one second into a shard and returns the true load in units; the
// shard has what the samples show of it.
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

// Constant draws always the same.
func Constant(v float64) func(*rand.Rand) float64 { return func(*rand.Rand) float64 { return v } }

// Unequal draws the units of a request as the layout of the real trace has them:
// 1 to 24.
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
	if mean > 50 { // as good, and quick
		return max(0, int(math.Round(mean+math.Sqrt(mean)*r.NormFloat64())))
	}
	n, p := 0, r.Float64()
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= r.Float64()
	}
	return n
}
