package sampling_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestSamplingArithmetic restates docs/FACTS.md, "Sampling": at 1% a key at
// 1,000 WCU a second of 1 KB items gives 10 samples, one standard deviation is
// 32% on one second and 4% on a minute; Σ w²(1−p)/p² is the variance; and a
// 95% bound on each second would call a key at 79% of the limit critical more
// than a hundred times a day.
func TestSamplingArithmetic(t *testing.T) {
	t.Parallel()
	const rate, load = 0.01, 1000.0
	perSample := (1 - rate) / (rate * rate) // of one sampled request of 1 unit
	deviation := func(seconds float64) float64 {
		return math.Sqrt(seconds*load*rate*perSample) / (seconds * load)
	}
	if one, minute := deviation(1), deviation(60); math.Abs(one-0.32) > 0.01 || math.Abs(minute-0.04) > 0.005 {
		t.Errorf("one standard deviation is %.3f on a second and %.3f on a minute, want 0.32 and 0.04", one, minute)
	}

	random := rand.New(rand.NewPCG(1, 3))
	var sum, squares float64
	const rounds = 20_000
	for range rounds {
		estimate := float64(scenario.Poisson(random, load*rate)) / rate
		sum, squares = sum+estimate, squares+estimate*estimate
	}
	mean := sum / rounds
	variance := squares/rounds - mean*mean
	// Poisson's own variance is load/p; of that, load(1−p)/p is the sampling's.
	if math.Abs(mean-load) > 5 || math.Abs(variance/(load/rate)-1) > 0.05 {
		t.Errorf("estimates have mean %.0f and variance %.0f, want %v and %v", mean, variance, load, load/rate)
	}

	critical := 0
	for range 24 * 3600 {
		n := float64(scenario.Poisson(random, 790*rate))
		if n-1.96*math.Sqrt(n) > load*rate { // the normal interval's lower end, per second
			critical++
		}
	}
	if critical < 20 {
		t.Errorf("a 95%% bound a second calls a key at 79%% critical only %d times a day: the rule of 10⁻⁶ would not be needed", critical)
	}
}

// TestProvable restates the design's figure: sampling 1% of requests of 1 KB
// proves single seconds from some 2,900 WCU on.
func TestProvable(t *testing.T) {
	t.Parallel()
	if got := sampling.Provable(detect.PartitionWrite, 100); got < 2700 || got > 3100 {
		t.Errorf("at 1%% a second is proven from %v on, want some 2,900", got)
	}
	if got := sampling.Provable(detect.PartitionWrite, 0); got != 0 {
		t.Errorf("unsampled, a second is proven from %v on, want 0 for any", got)
	}
	if few, many := sampling.Provable(detect.PartitionWrite, 100), sampling.Provable(detect.PartitionWrite, 10); many >= few {
		t.Errorf("10%% proves from %v on, 1%% from %v", many, few)
	}
}

// TestBounds holds the bounds to the inverse that the library has of the gamma
// distribution, to a thousandth of a unit. From a million samples on the library's own
// error is larger.
func TestBounds(t *testing.T) {
	t.Parallel()
	const units = 1500.0
	for samples := 0.5; samples < 1e9; samples *= 1.01 {
		near := 0.001
		if samples > 1e6 {
			near = 0.02
		}
		s := sketch.Spread{Variance: units * units / samples, Largest: units / samples}
		a := sampling.NewAmounts(detect.Milli(units), 0, s)
		inverse := func(units, variance, probability float64) float64 {
			return variance / units * mathext.GammaIncRegInv(units*units/variance, probability)
		}
		for name, c := range map[string]struct {
			got  sample.Milli
			want float64
		}{
			"low":    {a.Low, inverse(units, s.Variance, detect.ShowTail)},
			"proven": {a.Proven, inverse(units, s.Variance, detect.DecideTail)},
			"high":   {a.High(0), inverse(units+s.Largest, s.Variance+s.Largest*s.Largest, 1-detect.ShowTail)},
		} {
			if math.Abs(detect.Units(c.got)-c.want) > near {
				t.Errorf("of %g samples of %g units %s is %g, want %g", samples, units, name, detect.Units(c.got), c.want)
			}
		}
	}
}

// TestIntervalsCover draws thousands of seconds: the interval of 95% that is
// shown holds the true load at least so often, also with few samples, mixed
// rates and unequal requests.
func TestIntervalsCover(t *testing.T) {
	t.Parallel()
	mixed := func(r *rand.Rand) float64 { return []float64{0.01, 0.1, 1}[r.IntN(3)] }
	for name, c := range map[string]scenario.Traffic{
		"ten samples of one unit":        {Requests: 1000, Units: scenario.Constant(1), Rate: scenario.Constant(0.01)},
		"three samples of one unit":      {Requests: 300, Units: scenario.Constant(1), Rate: scenario.Constant(0.01)},
		"a hundred samples of one unit":  {Requests: 1000, Units: scenario.Constant(1), Rate: scenario.Constant(0.1)},
		"few samples of unequal weight":  {Requests: 300, Units: scenario.Unequal, Rate: scenario.Constant(0.01)},
		"many samples of unequal weight": {Requests: 1500, Units: scenario.Unequal, Rate: scenario.Constant(0.05)},
		"mixed rates":                    {Requests: 400, Units: scenario.Constant(1), Rate: mixed},
		"mixed rates, unequal weight":    {Requests: 400, Units: scenario.Unequal, Rate: mixed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const rounds = 2500
			random := rand.New(rand.NewPCG(11, uint64(len(name))))
			shard := sketch.NewShard(sketch.Config{})
			held, proven := 0, 0
			largest := 0.0 // as the board remembers it of the table
			for range rounds {
				truth := scenario.Milli(c.Second(random, shard, scenario.Began))
				var k sketch.KeyLoad
				if w := scenario.SealedWindows(shard); len(w) == 1 {
					k = w[0].Keys[0]
					largest = max(largest, w[0].Total.WriteLargest)
				}
				a := sampling.NewAmounts(k.Low.Write, 0, k.WriteSpread)
				low, high := a.Low, a.High(largest)
				if low <= truth && truth <= high {
					held++
				}
				if a.Proven <= truth {
					proven++
				}
			}
			if share := float64(held) / rounds; share < 0.94 {
				t.Errorf("the interval holds the truth in %.1f%% of seconds", 100*share)
			}
			if proven != rounds {
				t.Errorf("%d of %d seconds are proven over what they were", rounds-proven, rounds)
			}
		})
	}
}
