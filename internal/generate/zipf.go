package generate

import (
	"math"
	"math/rand/v2"
	"slices"
)

// zipf draws ranks from 1, rank i with a probability proportional to 1/i^s. math/rand's
// Zipf rejects exponents up to 1, which real traffic has; a table of sums takes all.
type zipf struct {
	sums []float64
}

func newZipf(n int, s float64) zipf {
	z := zipf{sums: make([]float64, n)}
	sum := 0.0
	for i := range z.sums {
		sum += math.Pow(float64(i+1), -s)
		z.sums[i] = sum
	}
	return z
}

func (z zipf) rank(draw *rand.Rand) int {
	i, _ := slices.BinarySearch(z.sums, draw.Float64()*z.sums[len(z.sums)-1])
	return i + 1
}
