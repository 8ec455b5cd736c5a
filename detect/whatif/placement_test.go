package whatif_test

import (
	"math"
	"testing"

	"github.com/keyheat/keyheat/detect/whatif"
)

const placementSeed = 20_261_121

// TestPlacement restates the worked example of DYNAMODB.md, "Shards": "With 8
// suffixes over 8 equal partitions there is a 49% chance that three or more
// share one; over 16, 17%; over 32, 5%."
func TestPlacement(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		partitions int
		percent    float64
	}{{8, 49}, {16, 17}, {32, 5}} {
		p := whatif.Place(8, c.partitions, 5000, placementSeed)
		exact := 100 * (1 - atMost(8, c.partitions, 2))
		if math.Abs(exact-c.percent) > 1 { // exactly 49.9, 16.9 and 4.8
			t.Errorf("8 suffixes over %d partitions: three or more share one with %.1f%%, want %.0f%%", c.partitions, exact, c.percent)
		}
		if got := 100 * p.Chance(3); math.Abs(got-exact) > 0.7 {
			t.Errorf("8 suffixes over %d partitions: simulated %.1f%%, exactly %.1f%%", c.partitions, got, exact)
		}
	}
}

// The simulation is held to the exact distribution of the fullest of n bins.
func TestPlacementAgainstTheExactDistribution(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ shards, partitions int }{{1, 1}, {2, 2}, {8, 8}, {8, 32}, {15, 4}, {20, 100}, {75, 50}} {
		p := whatif.Place(c.shards, c.partitions, 1000, placementSeed)
		mean, below := 0.0, 0.0
		for k := 1; k <= c.shards; k++ {
			within := atMost(c.shards, c.partitions, k)
			// Four standard errors: one comparison in 16,000 fails by chance.
			allowed := 4*math.Sqrt(within*(1-within)/float64(p.Trials)) + 1e-9
			if got := 1 - p.Chance(k+1); math.Abs(got-within) > allowed {
				t.Errorf("%d over %d: the fullest has at most %d with %.4f, exactly %.4f", c.shards, c.partitions, k, got, within)
			}
			mean += float64(k) * (within - below)
			below = within
		}
		per := 1000 / float64(c.shards)
		if math.Abs(p.Mean-mean*per) > 0.02*mean*per {
			t.Errorf("%d over %d: the fullest has %.1f on average, exactly %.1f", c.shards, c.partitions, p.Mean, mean*per)
		}
	}
}

// atMost is the exact probability that no one of p bins holds more than k of n
// balls: n!/pⁿ times the coefficient of xⁿ in (Σ xʲ/j!, j ≤ k)ᵖ, computed bin
// by bin.
func atMost(n, p, k int) float64 {
	// ways[m] is the probability that m balls thrown on the bins so far fit.
	ways := make([]float64, n+1)
	ways[0] = 1
	for bins := 1; bins <= p; bins++ {
		next := make([]float64, n+1)
		for m := 0; m <= n; m++ {
			for j := 0; j <= min(m, k); j++ {
				next[m] += binomial(m, j, 1/float64(bins)) * ways[m-j]
			}
		}
		ways = next
	}
	return ways[n]
}

func binomial(n, k int, p float64) float64 {
	if p == 1 {
		if k == n {
			return 1
		}
		return 0
	}
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

func TestPlacementIsDeterministicAndBounded(t *testing.T) {
	t.Parallel()
	a, b := whatif.Place(75, 60, 50_000, 7), whatif.Place(75, 60, 50_000, 7)
	if a.Mean != b.Mean || a.Chance(3) != b.Chance(3) {
		t.Error("the same seed gives other figures")
	}
	if p := whatif.Place(750, 1000, 500_000, 7); p.Trials*750 > 4_000_000 {
		t.Errorf("750 shards take %d draws", p.Trials*750)
	}
	one := whatif.Place(0, 0, 1500, 7)
	if one.Chance(1) != 1 || one.Chance(2) != 0 || one.Mean != 1500 {
		t.Errorf("one shard on one partition carries all of it: %+v", one)
	}
	if one.ShareOver(1000) != 1 || one.ShareOver(1500) != 0 {
		t.Error("1,500 units are over 1,000 and not over 1,500")
	}
	// 8 shards of 400 units: a partition is over its limit when three share it.
	if p := whatif.Place(8, 8, 3200, placementSeed); p.ShareOver(1000) != p.Chance(3) {
		t.Errorf("over the limit with %v, three together with %v", p.ShareOver(1000), p.Chance(3))
	}
}

// TestPlacementOfTheSources restates docs/FACTS.md, "Shards": with 8 suffixes the
// chance that three or more share one of 8 equal partitions is 49%, of 16 17%,
// of 32 5%.
func TestPlacementOfTheSources(t *testing.T) {
	t.Parallel()
	for partitions, want := range map[int]float64{8: 0.49, 16: 0.17, 32: 0.05} {
		if got := whatif.Place(8, partitions, 1, 1).Chance(3); math.Abs(got-want) > 0.015 {
			t.Errorf("over %d partitions: %.3f, want %v", partitions, got, want)
		}
	}
}
