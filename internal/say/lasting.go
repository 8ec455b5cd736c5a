package say

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// lastingFix is the lasting fix, with the load that it leaves.
func lastingFix(f *detect.Finding, a *casebook.Answer) string {
	switch {
	case a.Code == casebook.SharedPartition && f.Partition != nil && f.State != detect.Resolved:
		return "Do not shard its keys: none is hot."
	case a.Then == nil:
		return ""
	}
	text := Imperative(f, a.Then)
	if a.Then.Fix == detect.FixFewerWrites {
		text += dividing(f)
	}
	if a.Then.Fix == detect.FixEvenShards && f.Case == casebook.TooFewShards {
		text += fmt.Sprintf(", then make %d of them", f.Sharding.Needed)
	}
	if a.Healing.Outlook == casebook.Likely && a.Then.Fix != detect.FixBoundedRate && a.Then.Fix != detect.FixBackOff {
		text = "If it lasts, " + strings.ToLower(text[:1]) + text[1:]
	}
	return text + loadLeft(f, a.Then) + "."
}

// dividing tells how to divide a counter, beside writing it less often; empty for other items.
func dividing(f *detect.Finding) string {
	i := slices.IndexFunc(f.Advice, func(s detect.Step) bool { return s.Fix == detect.FixDividedCounter })
	if i < 0 {
		return ""
	}
	do := Imperative(f, &f.Advice[i])
	return "; " + strings.ToLower(do[:1]) + do[1:]
}

// loadLeft is the load after a step, as the end of a sentence; empty if nothing tells, or
// if the step need not leave less than the limit.
func loadLeft(f *detect.Finding, s *detect.Step) string {
	if s.After == nil || s.After.HighUtilization >= 1 || f.Case == casebook.LargeCollection {
		return ""
	}
	if s.Arguments.AtLeast || s.Fix == detect.FixBoundedRate { // the rate is in its words
		return ""
	}
	load := fmt.Sprintf("%s %s/s", wording.Significant(s.After.High), strings.ToUpper(s.After.Unit))
	switch s.Action {
	case detect.ActionShard, detect.ActionSplit, detect.ActionCopies:
		return ", ≤" + load + " each"
	case detect.ActionRename:
		return ", ≤" + load + " a key"
	}
	if s.Fix == detect.FixCache {
		if s.After.High < 0.9 {
			return " for a second; each cache reads less than 1 RCU/s"
		}
		return " for a second; each cache reads about " + load
	}
	if s.Action == detect.ActionShuffle {
		return "; busiest key then about " + load
	}
	return "; then " + map[bool]string{true: "at most ", false: "about "}[s.After.Low < s.After.High] + load
}
