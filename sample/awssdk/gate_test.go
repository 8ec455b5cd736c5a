package awssdk_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/sample/awssdk"
)

// TestAdaptiveIsUnbiased runs traffic that steps, bursts and pauses a thousand
// times. Each run estimates the true load and its own variance, Σw²(1−p)/p²; the
// mean of all must lie within the interval that these variances state.
func TestAdaptiveIsUnbiased(t *testing.T) {
	t.Parallel()
	const runs, limit = 1000, 100
	seconds := []int{50, 50, 3000, 3000, 200, 0, 8000, 90, 1500}
	var truth float64
	for _, n := range seconds {
		truth += float64(n) * 3
	}
	var sum, stated, inside float64
	for seed := range uint64(runs) {
		estimate, variance := adaptiveRun(t, seed, limit, seconds)
		sum += estimate
		stated += variance
		if math.Abs(estimate-truth) <= 1.96*math.Sqrt(variance) {
			inside++
		}
	}
	mean, deviation := sum/runs, math.Sqrt(stated)/runs
	if math.Abs(mean-truth) > 3*deviation {
		t.Errorf("the mean of %d runs is %.1f, the truth %.0f, three deviations %.1f", runs, mean, truth, 3*deviation)
	}
	// A normal interval is a little narrow on such sums; far off, the stated
	// variance would be wrong.
	if share := inside / runs; share < 0.90 || share > 0.99 {
		t.Errorf("%.1f %% of the runs' 95 %% intervals hold the truth", 100*share)
	}
	t.Logf("mean %.1f of %.0f, deviation of the mean %.1f, %.1f %% inside", mean, truth, deviation, inside/runs*100)
}

// adaptiveRun estimates requests of 1, 3 and 5 units, and holds that no second
// keeps more than the limit.
func adaptiveRun(t *testing.T, seed uint64, limit int, seconds []int) (estimate, variance float64) {
	random := rand.New(rand.NewPCG(seed, 7))
	pace := awssdk.NewPace(limit)
	for second, n := range seconds {
		kept := 0
		for i := range n {
			units := float64(1 + i%3*2)
			rate, ok := pace.Admit(int64(1000+second), 1, random.Float64())
			if ok {
				kept++
				estimate += units / rate
				variance += units * units * (1 - rate) / (rate * rate)
			}
		}
		if kept > limit {
			t.Errorf("seed %d, second %d: kept %d", seed, second, kept)
		}
	}
	return estimate, variance
}
