package say

import (
	"fmt"

	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// WhatIf writes the verdict on a number of key shards.
func WhatIf(w *whatif.Answer) string {
	needed := wording.About(float64(w.Needed)) + " shards"
	if w.Needed == 1 {
		needed = "1 shard"
	}
	switch w.Verdict() {
	case whatif.Undivided:
		return fmt.Sprintf("Only if the item can be divided: one item alone has about %s %s. Divided, it needs %s.", wording.About(w.Item), w.Unit, needed)
	case whatif.KnownShard:
		return fmt.Sprintf("Only where a query knows its shard: then %s carry the load. A query to all %d loads each as the key is now.", needed, w.Shards)
	case whatif.AfterSplits:
		return fmt.Sprintf("Not at once: the key exceeds the limit until DynamoDB has split its items. It takes %s from the start.", needed)
	case whatif.TooFew:
		return fmt.Sprintf("No: each shard would exceed the limit. It takes %d.", w.Needed)
	case whatif.Barely:
		return fmt.Sprintf("Barely: each shard is below the limit, but without the headroom that %d would give.", w.Needed)
	case whatif.Crowded:
		return "Yes, but perhaps not at once: shards may share a partition until DynamoDB splits it. Raise the warm throughput first."
	}
	return "Yes: this carries the load, with room to grow."
}
