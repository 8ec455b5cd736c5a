package say

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/answer"
	"github.com/keyheat/keyheat/detect/wording"
)

// lastingFix is the lasting fix, with the load that it leaves.
func lastingFix(f *detect.Finding, a *answer.Answer) string {
	if a.Then == nil {
		return ""
	}
	text := Imperative(f, a.Then)
	if a.Healing.Outlook == answer.Likely {
		text = "If it lasts, " + strings.ToLower(text[:1]) + text[1:]
	}
	return text + loadLeft(f, a.Then) + "."
}

// loadLeft is the load after a step, as the end of a sentence; empty if nothing tells, or
// if the step need not leave less than the limit.
func loadLeft(f *detect.Finding, s *detect.Step) string {
	if s.After == nil || s.After.HighUtilization >= 1 || f.Kind == detect.LargeCollection {
		return ""
	}
	load := fmt.Sprintf("%s %s/s", wording.Significant(s.After.High), strings.ToUpper(s.After.Unit))
	switch s.Action {
	case detect.ActionShard, detect.ActionSplit, detect.ActionCopies:
		return ", ≤" + load + " each"
	case detect.ActionRename:
		return ", ≤" + load + " a key"
	}
	return "; the key keeps about " + load
}

// Imperative names a step in at most eight words.
func Imperative(f *detect.Finding, s *detect.Step) string {
	switch s.Action {
	case detect.ActionShard:
		return shardSentence(f, s)
	case detect.ActionSplit:
		if s.Effort == detect.EffortCode {
			return fmt.Sprintf("Divide the counter or item into %d items", f.Shards)
		}
		return fmt.Sprintf("Divide the item into %d items", f.Shards)
	case detect.ActionCopies:
		return fmt.Sprintf("Keep %d copies of the item", f.Shards)
	case detect.ActionRename:
		switch f.Kind {
		case detect.LargeCollection:
			return "Put a month into the key"
		case detect.LowCardinalityKey:
			return "Build the key from more values"
		}
		return "Put more than the time into the key"
	case detect.ActionIndex:
		return "Give the index a key with more values"
	}
	return imperatives[s.Action]
}

func shardSentence(f *detect.Finding, s *detect.Step) string {
	n := f.Shards
	if s.Names != nil {
		n = s.Names.Shards
	}
	switch f.Kind {
	case detect.TooFewShards:
		if f.Sharding != nil {
			return fmt.Sprintf("Raise the key shards from %d to %d", f.Sharding.Shards, f.Sharding.Needed)
		}
	case detect.TooManyShards:
		if f.Sharding != nil {
			return fmt.Sprintf("Write to %d key shards only", f.Sharding.Needed)
		}
	case detect.UnevenShards:
		return "Spread the load evenly over the shards"
	}
	return fmt.Sprintf("Split the key into %d key shards", n)
}

var imperatives = map[string]string{
	detect.ActionCaller:      "Mend the caller",
	detect.ActionShuffle:     "Shuffle the rows before the import",
	detect.ActionRetry:       "Retry with backoff, jitter and a limit",
	detect.ActionSpread:      "Spread the burst over some seconds",
	detect.ActionCapacity:    "Raise the capacity of the table",
	detect.ActionWait:        "Wait for DynamoDB to split the partition",
	detect.ActionPrewarm:     "Raise the table's warm throughput",
	detect.ActionTransaction: "Replace transactions with conditional writes",
	detect.ActionRead:        "Read eventually consistently where possible",
	detect.ActionQuery:       "Read fewer bytes with each query",
	detect.ActionCache:       "Cache the reads",
	detect.ActionScan:        "Replace the Scan with an export",
	detect.ActionVertical:    "Move changing attributes into their own item",
	detect.ActionCompress:    "Compress large attributes",
	detect.ActionObject:      "Store large values in S3",
	detect.ActionProject:     "Project fewer attributes into the index",
	detect.ActionSparse:      "Leave this value out of the index",
	detect.ActionMigrate:     "Migrate to the new keys",
	detect.ActionPipeline:    "Send each request's own time",
}
