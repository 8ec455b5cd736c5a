package detect

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// whyHot says why a partition without a hot key refused, and whether it heals.
func whyHot(s *strain, over int, warm []string) (Reason, string) {
	refused := fmt.Sprintf("A partition refused %s requests in %s, while no key was near a limit", count(s.refused[sample.KeyRange]), seconds(over))
	if scanned := ratio(float64(weight(s.scanned)), float64(weight(s.load))); scanned >= ScanShare {
		return Scanned, fmt.Sprintf("%s: %.0f %% of the load is Scans, which read one partition after another as fast as they can, and are gone before DynamoDB splits it.", refused, 100*scanned)
	}
	why := refused + ": several warm keys share it. DynamoDB can split it between them, after some minutes of sustained load."
	if len(warm) > 0 {
		why += " The warmest keys then were " + list(warm) + "."
	}
	return Splittable, why
}

// whyStarved says what a table lacks.
func whyStarved(s *strain, over int, facts *TableFacts, index string) string {
	what := "table"
	if index != "" {
		what = "index"
	}
	wcu, rcu := facts.provisioned(index)
	given := ""
	if wcu > 0 || rcu > 0 {
		given = fmt.Sprintf(" It is given %.0f WCU and %.0f RCU a second, and was asked for up to %.0f %% of that.", wcu, rcu, 100*s.over)
	}
	if s.starved() == 0 {
		return fmt.Sprintf("The %s was asked for more than it is provisioned with, so far out of its burst capacity.%s", what, given)
	}
	cause := sample.Provisioned
	for _, c := range []sample.Cause{sample.MaxOnDemand, sample.AccountLimit} {
		if s.refused[c] > s.refused[cause] {
			cause = c
		}
	}
	return fmt.Sprintf("DynamoDB refused %s requests in %s with %s: the %s as a whole has too little capacity. This is no hot key.%s",
		count(s.starved()), seconds(over), cause, what, given)
}

// strainAdvice says what to do about a table as a whole.
func strainAdvice(f *Finding, s *strain, peak sketch.Load) []Step {
	var steps []Step
	if text := retryAdvice(f); text != "" {
		steps = append(steps, Step{ActionRetry, strings.Replace(text, "requests on the key", "requests", 1)})
	}
	switch {
	case f.Kind == TableStarvation:
		return append(steps, Step{ActionCapacity, starvationAdvice(s, peak)})
	case f.Reason == Scanned:
		return append(steps, Step{ActionScan, "Slow the Scan down (a rate limit, a smaller Limit, fewer segments), run it from an export to S3, or give it an index of its own: a Scan's every page is of one partition."})
	}
	return append(steps,
		Step{ActionCapacity, "Raising the table's capacity will not help at once: the partition is full, not the table."},
		Step{ActionWait, "Wait some minutes: DynamoDB can split the partition between its keys, if the load lasts. If it returns again and again, pre-warm, or shard the warmest keys before they are hot."})
}

func starvationAdvice(s *strain, peak sketch.Load) string {
	switch {
	case s.refused[sample.AccountLimit] > s.refused[sample.Provisioned]+s.refused[sample.MaxOnDemand]:
		return "Ask AWS to raise the account's limit in this Region, or move load to another one: no key or table setting helps."
	case s.refused[sample.MaxOnDemand] > s.refused[sample.Provisioned]:
		return "Raise or remove the maximum throughput that the owner set on the on-demand table or index."
	}
	return fmt.Sprintf("Raise the provisioned capacity above the peak of %s write and %s read units a second, let it scale by itself with a lower target, or change to on-demand. Shards would not help: no key is near a limit of its own.",
		amountOf(peak.Write), amountOf(peak.Read))
}
