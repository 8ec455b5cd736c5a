package sampling_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
)

// TestPartBounds compares bounds of a share with the binomial distribution itself: at its
// bound, what was seen has the probability of the tail.
func TestPartBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ refused, seen float64 }{{1, 10}, {1, 1000}, {9, 39}, {20, 400}, {49, 148}, {148, 148}, {3000, 9000}, {90_000, 100_000}, {2, 1e6}} {
		p := sampling.Part{Of: c.refused, All: c.seen, Variance: c.seen}
		for _, tail := range []float64{detect.ShowTail, detect.DecideTail} {
			low := p.Lower(tail)
			if got := 1 - (distuv.Binomial{N: c.seen, P: low}).CDF(c.refused-1); math.Abs(got/tail-1) > 0.02 {
				t.Errorf("%v of %v: at the lower bound %g as many have the probability %g, want %g", c.refused, c.seen, low, got, tail)
			}
			if c.refused == c.seen {
				continue
			}
			high := p.Upper(tail)
			if got := (distuv.Binomial{N: c.seen, P: high}).CDF(c.refused); math.Abs(got/tail-1) > 0.02 {
				t.Errorf("%v of %v: at the upper bound %g as few have the probability %g, want %g", c.refused, c.seen, high, got, tail)
			}
		}
	}
}

// TestExactPart: a share of all requests has no interval, and a share of nothing is 0.
func TestExactPart(t *testing.T) {
	t.Parallel()
	for of, want := range map[float64]float64{0: 0, 50: 0.25, 200: 1} {
		p := sampling.Part{Of: of, All: 200}
		low, high := p.Bounds()
		if p.Share() != want || low != want || high != want || p.Lower(detect.DecideTail) != want {
			t.Errorf("%v of 200: %v, %v to %v", of, p.Share(), low, high)
		}
	}
	if nothing := (sampling.Part{}); nothing.Share() != 0 || nothing.Lower(detect.ShowTail) != 0 || nothing.Upper(detect.ShowTail) != 0 {
		t.Error("a share of nothing is not 0")
	}
}

// TestClustersCover draws whole batches, and all requests of a batch are refused or none: the 95%
// interval holds the truth, though no sample names its batch.
func TestClustersCover(t *testing.T) {
	t.Parallel()
	const tables, seconds, batches, rate, truth = 500, 60, 40, 0.1, 0.2
	random := rand.New(rand.NewPCG(4, 0))
	for _, size := range []int{1, 25} {
		held := 0
		for range tables {
			var c sampling.Clusters
			for range seconds {
				refused, all := 0, 0
				for range batches {
					if random.Float64() >= rate {
						continue
					}
					all += size
					if random.Float64() < truth {
						refused += size
					}
				}
				c.Add(float64(refused), float64(all))
			}
			p := c.Part(true)
			if low, high := p.Bounds(); low <= truth && truth <= high {
				held++
			}
		}
		if held < 92*tables/100 {
			t.Errorf("batches of %d: %d of %d intervals hold the truth, want 95%%", size, held, tables)
		}
	}
}
