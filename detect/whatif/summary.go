package whatif

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// sharedOften is the least chance of a full partition that the summary mentions.
const sharedOften = 0.05

// Summary returns the verdict in words: first whether the shards are enough, then whether
// they have room at once.
func (w *Answer) Summary() string {
	switch {
	case w.IsUndivided() && w.PerShard <= w.Limit:
		return fmt.Sprintf("Only if the item can be divided: one item alone has about %s %s, and shards divide items. As it is, the shard that has it exceeds the limit, whatever their number; if its value can be divided, %s carry it.", wording.About(w.Item), w.Unit, countShards(w.Needed))
	case w.AllAsked && w.Shards > 1 && w.PerShard <= w.Limit:
		return fmt.Sprintf("Only where a query knows its shard: one that asks all of them is %d queries of at least %g RCU each, and where each of these costs as much as one of the key does now, each shard is loaded as the key is. Where each query knows its shard, %s carry the load.", w.Shards, detect.QueryMinimum, countShards(w.Needed))
	case w.Shards == 1 && w.Reason == detect.Splittable && w.PerShard > w.Limit:
		return fmt.Sprintf("Not at once: the key exceeds the limit until DynamoDB has split its items, which it can, after some minutes of sustained load. %s would carry it from the beginning.", countShards(w.Needed))
	case w.PerShard > w.Limit:
		return fmt.Sprintf("No: each shard would exceed the limit. It takes %d.", w.Needed)
	case w.Shards < w.Needed:
		return fmt.Sprintf("Barely: each shard is below the limit, but without the headroom that %d would give.", w.Needed)
	}
	for _, on := range w.Placements {
		if on.Over >= sharedOften {
			return "Yes, with room to grow, but perhaps not at once: each shard is well below the limit, but several may share a partition, which is then full until DynamoDB splits it. Raise the warm throughput before the load arrives."
		}
	}
	return "Yes: this carries the load, with room to grow."
}

func countShards(n int) string {
	if n == 1 {
		return "1 shard"
	}
	return wording.About(float64(n)) + " shards"
}
