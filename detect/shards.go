package detect

import (
	"math"

	"github.com/keyheat/keyheat/sample"
)

// Shards returns how many shards carry a peak of one second, with headroom:
//
//	max(1, ceil(peak / limit × headroom))
//
// peak is in thousandths of a unit, limit PartitionWrite or PartitionRead.
// Source: the arithmetic of AWS's "Using write sharding to distribute workloads
// evenly", with the headroom made explicit.
func Shards(peak, limit sample.Milli, headroom float64) int {
	exact := float64(peak) / float64(limit) * headroom
	// A product such as 4 × 1.5 must not become 6.000000000000001 and then 7.
	return max(1, int(math.Ceil(exact-1e-9)))
}
