package contributors

import (
	"fmt"

	"github.com/keyheat/keyheat/detect/wording"
)

// divisible is the largest share of a key's load on one item that leaves shards most of
// the load to divide.
const divisible = 0.5

// SetItems adds to a partition key the spread of its load over items, in the minute of
// its verdict, and extends Why.
func (k *Key) SetItems(items []Series) {
	if k.Bounds == nil || *k.Value <= 0 {
		return
	}
	n, largest := 0, 0.0
	for _, s := range items {
		if len(s.Keys) < 2 || s.Keys[0] != k.Key {
			continue
		}
		for _, p := range s.Points {
			if p.At.Equal(*k.Minute) && p.Value > 0 {
				n++
				largest = max(largest, p.Value)
			}
		}
	}
	if n == 0 {
		return
	}
	share := min(1, largest / *k.Value)
	k.Items, k.LargestItem = &n, &share
	if n == 1 {
		k.Why += fmt.Sprintf(" Of its load in that minute one item had %s", wording.Percent(share))
	} else {
		k.Why += fmt.Sprintf(" Its load in that minute was on at least %d items, the largest with %s of it", n, wording.Percent(share))
	}
	if share > divisible {
		k.Why += ": no shard divides that item."
		return
	}
	k.Why += ": shards divide the key's load."
}
