package whatif

import (
	"math/rand/v2"
	"sort"
)

// placementTrials is the number of draws of a placement. With 20,000 draws a chance near
// one half is known to within 0.7 percentage points (95%), one near 5% to within 0.3.
const placementTrials = 20_000

// placementDraws bounds the work of one placement, for any number of shards.
const placementDraws = 4_000_000

// maxPlaced is the most shards whose placement is simulated for a finding or a question.
const maxPlaced = 1000

const placementSeed = 1

// Placement is the load of the fullest partition under random placement of one key's
// shards. N shards are not N partitions: DynamoDB places each by a hash of its name, so
// some partitions get several and others none, until it has split them.
type Placement struct {
	// Trials is the number of simulated placements.
	Trials int
	// Mean is the expected load of the fullest partition, in units a second.
	Mean float64

	perShard float64 // the load of one shard, in units a second
	fullest  []int   // the shards on the fullest partition of each trial, ascending
}

// Place simulates the placement of a key's shards on partitions of equal size. load is
// the key's load in units a second, spread evenly over the shards. Less than one shard or
// partition counts as one. The cost grows with the shards: some milliseconds for 100 of
// them.
func Place(shards, partitions int, load float64, seed uint64) Placement {
	shards, partitions = max(shards, 1), max(partitions, 1)
	p := Placement{Trials: max(1000, min(placementTrials, placementDraws/shards)), perShard: load / float64(shards)}
	p.fullest = throw(shards, partitions, p.Trials, rand.New(rand.NewPCG(seed, 0)))
	sum := 0
	for _, n := range p.fullest {
		sum += n
	}
	p.Mean = float64(sum) / float64(p.Trials) * p.perShard
	return p
}

// throw returns the number of shards on the fullest partition in each trial, in ascending
// order.
func throw(shards, partitions, trials int, random *rand.Rand) []int {
	fullest := make([]int, trials)
	held := make([]int, partitions)
	where := make([]int, shards)
	for trial := range fullest {
		for i := range where {
			where[i] = random.IntN(partitions)
			held[where[i]]++
			fullest[trial] = max(fullest[trial], held[where[i]])
		}
		for _, at := range where {
			held[at] = 0
		}
	}
	sort.Ints(fullest)
	return fullest
}

// Chance returns the probability that k shards or more share a partition.
func (p Placement) Chance(k int) float64 {
	return float64(len(p.fullest)-sort.SearchInts(p.fullest, k)) / float64(len(p.fullest))
}

// ShareOver returns the probability that the load of the fullest partition exceeds limit
// units a second.
func (p Placement) ShareOver(limit float64) float64 {
	first := sort.Search(len(p.fullest), func(i int) bool { return float64(p.fullest[i])*p.perShard > limit })
	return float64(len(p.fullest)-first) / float64(len(p.fullest))
}
