package say

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
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

// WhatIfSeconds counts the seconds over the limit with key shards and without, and notes
// a step with less effort.
func WhatIfSeconds(w *whatif.Answer) string {
	text := fmt.Sprintf("%d of %d seconds would be over the limit on an even shard; %d are without shards.", w.OverSharded, w.Seconds, w.OverUnsharded)
	if w.Instead != "" {
		text += " Another step needs less effort."
	}
	return text
}

// WhatIfPlacement explains where DynamoDB places key shards, and the cost of reading them.
func WhatIfPlacement(w *whatif.Answer) string {
	if w.Shards <= 1 || len(w.Placements) == 0 {
		return "One name is on one partition."
	}
	return fmt.Sprintf("DynamoDB places each name by its hash and splits a full partition after some minutes; warm throughput makes partitions ahead of time. Reading the whole key takes %d queries. (Simulated, seed %d.)", w.Shards, w.Seed)
}

// WhatIfInstead advises the step that makes key shards needless; empty without one.
func WhatIfInstead(w *whatif.Answer) string {
	if w.Instead == "" || w.Shards <= 1 {
		return ""
	}
	return "Key shards are not advised, since less suffices: " + Imperative(&detect.Finding{}, &detect.Step{Fix: w.Instead}) + "."
}
