package shardkey

import (
	"fmt"
	"slices"
)

// Distribution shows how evenly the shards of one base are used.
type Distribution struct {
	Counts []int64
	Mean   float64
	// Deviation is the largest distance of a shard's count from the mean, relative to the mean.
	// Above 0.2 it is worth an investigation. It is 0 if all counts are 0.
	Deviation float64
	Hottest   int
}

// Distribution sorts counts by shard. counts has the partition keys of one base and the use of
// each. A name that is not a shard of this sharding is an error, because without it the shards
// would look more even than they are.
func (s Sharding) Distribution(base string, counts map[string]int64) (Distribution, error) {
	d := Distribution{Counts: make([]int64, s.n)}
	sum, numbers := int64(0), s.Numbers(base)
	for name, n := range counts {
		of, number, ok := s.form.Parse(name)
		shard := slices.Index(numbers, number)
		switch {
		case !ok || !s.form.Alone && of != base || shard < 0:
			return Distribution{}, fmt.Errorf("shardkey: %q is not one of the %d shards of %q", name, s.n, base)
		case n < 0:
			return Distribution{}, fmt.Errorf("shardkey: the count of %q is negative", name)
		}
		d.Counts[shard] += n
		sum += n
	}
	d.Mean = float64(sum) / float64(max(s.n, 1))
	for shard, n := range d.Counts {
		if n > d.Counts[d.Hottest] {
			d.Hottest = shard
		}
		if sum > 0 {
			d.Deviation = max(d.Deviation, abs(float64(n)-d.Mean)/d.Mean)
		}
	}
	return d, nil
}

func abs(x float64) float64 { return max(x, -x) }
