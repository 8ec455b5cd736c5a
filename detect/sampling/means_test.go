package sampling_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sketch"
)

// TestMeansOfFoldedDraws holds that seconds which differ more than independent draws
// do prove no mean, unless records say what was drawn together; and that whole callers
// prove none however steady they are.
func TestMeansOfFoldedDraws(t *testing.T) {
	t.Parallel()
	// A second's requests were folded and one such record in ten kept, seen at ten
	// times their number: 8,000 or nothing, 800 on average.
	uneven := func(r *rand.Rand) float64 {
		if r.Float64() < 0.1 {
			return 8000
		}
		return 0
	}
	steady := func(r *rand.Rand) float64 { return 10 * float64(scenario.Poisson(r, 150)) }
	for _, c := range []struct {
		name    string
		load    func(*rand.Rand) float64
		assumed bool
		whole   float64 // deviation as a share of the load
		over    bool
		says    bool // over, if draws were independent
	}{
		{"steady", steady, true, 0, true, true},
		{"steady, by call", steady, false, 0, true, true},
		{"steady, of two callers", steady, true, 0.67, false, true},
		{"folded and drawn again", uneven, true, 0, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(8, 8))
			var m sampling.Means
			over, believed := false, false
			for at := scenario.Began; at < scenario.Began+3600; at++ {
				units := c.load(random)
				m.Add(at, sampling.Second{
					Estimate: sampling.Estimate{Units: units, Spread: sketch.Spread{Variance: units * 9, Largest: 10}},
					Whole:    c.whole * c.whole * units * units, Assumed: c.assumed,
				})
				proven, independent := m.Proven(at, 100)
				over, believed = over || proven > detect.PartitionWrite, believed || independent > detect.PartitionWrite
				if proven > independent {
					t.Fatalf("%v proven, %v if draws were independent", proven, independent)
				}
			}
			if over != c.over || believed != c.says {
				t.Errorf("proven over the limit %t, if independent %t; want %t and %t", over, believed, c.over, c.says)
			}
		})
	}
}

// TestPeakDoesNotGrow holds that the peak of a sampled key stays near its load however
// long one looks, where the highest second grows.
func TestPeakDoesNotGrow(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 9))
	var m sampling.Means
	var p sampling.Peak
	highest := 0.0
	for i := range int64(6 * 3600) {
		units := 100 * float64(scenario.Poisson(random, 15))
		highest = max(highest, units)
		m.Add(i+1, sampling.Second{Estimate: sampling.Estimate{Units: units, Spread: sketch.Spread{Variance: units * 99, Largest: 100}}})
		p.Raise(&m, i+1)
		if peak := p.Load(i+1, 0.01); i >= 3600 && (peak.Value < 1_350_000 || peak.Value > 1_725_000 || peak.Low > peak.Value || peak.Sure > 1_530_000) {
			t.Fatalf("after %d s the peak of 1,500 is %+v", i, peak)
		}
	}
	if highest < 3000 {
		t.Errorf("the highest second is %v: there was nothing to mend", highest)
	}
}

// TestPeakIsNearTheLoad holds that the peak of a load that is the same in all seconds is within
// 15% of it in nearly all quarters of an hour, and that what is sure of it never goes above.
func TestPeakIsNearTheLoad(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0.1, 0.01} {
		const worlds, load, seconds = 200, 1500, 900
		near, above := 0, 0
		for seed := range uint64(worlds) {
			random := rand.New(rand.NewPCG(seed, 10))
			var m sampling.Means
			var p sampling.Peak
			for i := range int64(seconds) {
				units := float64(scenario.Poisson(random, load*rate)) / rate
				m.Add(i+1, sampling.Second{Estimate: sampling.Estimate{Units: units, Spread: sketch.Spread{Variance: units * (1 - rate) / rate, Largest: 1 / rate}}})
				p.Raise(&m, i+1)
			}
			peak := p.Load(seconds, rate)
			if math.Abs(detect.Units(peak.Value)/load-1) <= 0.15 {
				near++
			}
			if detect.Units(peak.Sure) > 1.03*load {
				above++
			}
		}
		if near < 0.95*worlds || above > 0.03*worlds {
			t.Errorf("sampled at %v: %d of %d peaks are within 15%% of the load, and of %d it is sure that they are above", rate, near, worlds, above)
		}
	}
}

// TestMostOfMeans bounds the mean of a key from above, at 1%, once ten seconds are known: 300 units
// a second exclude 800, and a load that has risen does not.
func TestMostOfMeans(t *testing.T) {
	t.Parallel()
	var m sampling.Means
	add := func(from, to int64, units float64) {
		for at := from; at < to; at++ {
			m.Add(scenario.Began+at, sampling.Second{Estimate: sampling.Estimate{Units: units, Spread: sketch.Spread{Variance: units * 100, Largest: 100}}})
		}
	}
	most := func(at int64) float64 {
		load, known := m.Most(scenario.Began+at, 100)
		return detect.Units(load) * float64(detect.BoolToInt(known))
	}
	if add(0, 9, 300); most(8) != 0 {
		t.Errorf("nine seconds of 300 bound the mean by %v", most(8))
	}
	if add(9, 60, 300); most(59) < 400 || most(59) > 450 {
		t.Errorf("a minute of 300 bounds the mean by %v, want that of ten seconds", most(59))
	}
	if add(60, 70, 1000); most(69) < 1000 || most(69) > 1250 {
		t.Errorf("ten seconds of 1,000 bound the mean by %v", most(69))
	}
}
