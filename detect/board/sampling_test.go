package board_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// traffic is what a key asks for in a second: requests of some units, a share of
// which are sampled.
type traffic struct {
	requests float64 // a second, on average
	units    func(*rand.Rand) float64
	rate     func(*rand.Rand) float64
}

func fixed(v float64) func(*rand.Rand) float64 { return func(*rand.Rand) float64 { return v } }

// heavy is the weight of the real trace's layout: 1 to 24 units.
func heavy(r *rand.Rand) float64 {
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

// second draws one second: the true load, and what the samples say of it.
func (c traffic) second(r *rand.Rand, s *sketch.Shard, at int64) (truth float64) {
	for range poisson(r, c.requests) {
		w, p := c.units(r), c.rate(r)
		truth += w
		if r.Float64() >= p {
			continue
		}
		record := sample.Record{
			Time: at * 1000, Table: "orders", PK: sample.KeyString("user#42"), Op: sample.UpdateItem,
			WCU: milli(w), Rate: p, N: 1,
		}
		if err := s.Add(&record); err != nil {
			panic(err)
		}
	}
	return truth
}

func poisson(r *rand.Rand, mean float64) int {
	if mean > 50 { // as good, and quick
		return max(0, int(math.Round(mean+math.Sqrt(mean)*r.NormFloat64())))
	}
	n, p := 0, r.Float64()
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= r.Float64()
	}
	return n
}

func windows(s *sketch.Shard) []sketch.Window {
	d := sketch.NewDelta(sketch.Config{})
	s.Seal(d)
	return d.Windows
}

// TestIntervalsCover draws thousands of seconds: the interval of 95 % that is
// shown holds the true load at least so often, also with few samples, mixed
// rates and unequal requests.
func TestIntervalsCover(t *testing.T) {
	t.Parallel()
	mixed := func(r *rand.Rand) float64 { return []float64{0.01, 0.1, 1}[r.IntN(3)] }
	for name, c := range map[string]traffic{
		"ten samples of one unit":        {1000, fixed(1), fixed(0.01)},
		"three samples of one unit":      {300, fixed(1), fixed(0.01)},
		"a hundred samples of one unit":  {1000, fixed(1), fixed(0.1)},
		"few samples of unequal weight":  {300, heavy, fixed(0.01)},
		"many samples of unequal weight": {1500, heavy, fixed(0.05)},
		"mixed rates":                    {400, fixed(1), mixed},
		"mixed rates, unequal weight":    {400, heavy, mixed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const rounds = 2500
			random := rand.New(rand.NewPCG(11, uint64(len(name))))
			shard := sketch.NewShard(sketch.Config{})
			held, proven := 0, 0
			largest := 0.0 // as the board remembers it of the table
			for range rounds {
				truth := milli(c.second(random, shard, began))
				var k sketch.KeyLoad
				if w := windows(shard); len(w) == 1 {
					k = w[0].Keys[0]
					largest = max(largest, w[0].Total.WriteLargest)
				}
				certain, low, high := board.Interval(k.Low.Write, k.WriteSpread, largest)
				if low <= truth && truth <= high {
					held++
				}
				if certain <= truth {
					proven++
				}
			}
			if share := float64(held) / rounds; share < 0.94 {
				t.Errorf("the interval holds the truth in %.1f %% of seconds", 100*share)
			}
			if proven != rounds {
				t.Errorf("%d of %d seconds are proven over what they were", rounds-proven, rounds)
			}
		})
	}
}

// TestNoFalsePages watches a key at 79 % of the limit for 24 hours at 1 %
// sampling.
func TestNoFalsePages(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	board := board.New(board.Options{})
	shard := sketch.NewShard(sketch.Config{CounterBytes: 4096, Sets: 1})
	board.Settle(began-1, true)
	key := traffic{790 * 0.01, fixed(1), fixed(0.01)}
	for second := range int64(24 * 3600) {
		at := began + second
		for range poisson(random, key.requests) { // the sampled ones alone
			record := sample.Record{
				Time: at * 1000, Table: "orders", PK: sample.KeyString("user#42"), Op: sample.UpdateItem,
				WCU: 1000, Rate: 0.01, N: 1,
			}
			if err := shard.Add(&record); err != nil {
				t.Fatal(err)
			}
		}
		if second%4 == 3 {
			for _, w := range windows(shard) {
				board.Observe(&w)
			}
			board.Settle(at, true)
		}
		if second%60 == 59 {
			if found := board.Findings(); len(found) != 0 {
				t.Fatalf("after %d s a key at 79 %% is found: %+v", second, found)
			}
		}
	}
}

// TestSampledHeatIsFound watches a key at 1,500 writes a second at 1 % sampling:
// single seconds prove nothing, the mean of a minute does.
func TestSampledHeatIsFound(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	board := board.New(board.Options{})
	shard := sketch.NewShard(sketch.Config{})
	key := traffic{1500, fixed(1), fixed(0.01)}
	board.Settle(began-1, true)
	for second := range int64(60) {
		key.second(random, shard, began+second)
		for _, w := range windows(shard) {
			board.Observe(&w)
		}
		board.Settle(began+second, true)
	}
	found := board.Findings()
	if len(found) != 1 || found[0].Severity != detect.Critical || found[0].State != detect.Firing {
		t.Fatalf("found %+v", found)
	}
	f := found[0]
	if f.OverSeconds != 0 || f.PossibleSeconds < 50 || f.Mean.WCU.Low > 1500 || f.Mean.WCU.High < 1500 {
		t.Errorf("over %d, possible %d, mean %+v", f.OverSeconds, f.PossibleSeconds, f.Mean.WCU)
	}
}
