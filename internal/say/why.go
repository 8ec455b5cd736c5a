package say

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/answer"
	"github.com/keyheat/keyheat/detect/wording"
)

// why is the cause in a sentence, with the callers' shares.
func why(f *detect.Finding, a *answer.Answer) string {
	text := cause(f, a)
	if text == "" || a.Cause == answer.Retries {
		return text
	}
	return text + callers(a)
}

func cause(f *detect.Finding, a *answer.Answer) string {
	switch a.Cause {
	case answer.OneKey, answer.NearLimit:
		return fmt.Sprintf("%s go to %s at %s.", capital(requests(f)), subject(f), load(f))
	case answer.OneItem:
		return fmt.Sprintf("One item has the load of %s, %s.", subject(f), load(f))
	case answer.MayBeOver:
		return fmt.Sprintf("%s may be above the limit: %s.", capital(subject(f)), load(f))
	case answer.IndexKey:
		return fmt.Sprintf("Index key %s has %s. A full index partition refuses writes to the table.", subject(f), load(f))
	case answer.Retries:
		return retries(f)
	case answer.OneCaller:
		return fmt.Sprintf("One caller makes %s hot, at %s.", subject(f), load(f))
	case answer.Test:
		return fmt.Sprintf("A test makes %s hot, at %s.", subject(f), load(f))
	case answer.TimeKey:
		if f.Rolling != nil {
			return fmt.Sprintf("The key holds its %s (%s), so one partition takes all writes of the %s.", f.Rolling.Period, quote(f.Rolling.Template), f.Rolling.Period)
		}
	case answer.MovingSpot:
		return "A job goes through the keys in their order, so one partition has its whole load at a time."
	case answer.FewValues:
		return fmt.Sprintf("The key has few values, and the hottest has %s.", load(f))
	case answer.Shards, answer.UnevenShards:
		return sharding(f)
	case answer.Scan:
		return "A Scan reads one partition after another, as fast as it can."
	case answer.SharedPartition:
		return "One partition is full, and no single key in it is known to be hot."
	case answer.BackPressure:
		return "A partition of an index is full. DynamoDB then refuses writes to the table."
	case answer.Provisioned:
		return "The table as a whole asks for more than its provisioned capacity. No key is the cause."
	case answer.OwnMaximum:
		return "The table reached the maximum throughput that its owner set. No key is the cause."
	case answer.AccountQuota:
		return "The account reached its quota in this Region. No key is the cause."
	case answer.IndexCapacity:
		return "An index has too little write capacity. DynamoDB then refuses writes to the table."
	case answer.LargeItem:
		if f.Evidence == nil {
			return ""
		}
		return fmt.Sprintf("A write changes little of an item of %s, and pays for all of it.", wording.Size(f.Evidence.ItemBytes))
	case answer.Collection:
		return fmt.Sprintf("The items of %s grow, and a table with a local index allows 10 GB for each key.", subject(f))
	}
	return own[f.Kind]
}

func retries(f *detect.Finding) string {
	if f.Evidence == nil || f.Evidence.Retries == nil || len(f.Evidence.Retries.Callers) == 0 {
		return ""
	}
	who := &f.Evidence.Retries.Callers[0]
	return fmt.Sprintf("%s sends each request to %s %.1f times, %s of all attempts.", quote(who.Caller), subject(f), who.Amplification, wording.Part(who.Share))
}

func sharding(f *detect.Finding) string {
	if f.Sharding == nil {
		return ""
	}
	s := f.Sharding
	if f.Kind == detect.UnevenShards {
		return fmt.Sprintf("Key shard %s carries %s more than the mean of %d.", quote(s.Hottest), wording.Part(s.Deviation), s.Shards)
	}
	return fmt.Sprintf("%s has %d key shards; its load needs %d.", quote(s.Base), s.Shards, s.Needed)
}

// own are the causes of what Keyheat cannot see.
var own = map[detect.Kind]string{
	detect.CollectionStopped: "No collector reports, or event time stands still.",
	detect.CollectionLags:    "Samples wait longer than usual before they are counted.",
	detect.BadSamples:        "A collector rejects a part of the samples, and their load is not seen.",
	detect.TablesRefused:     "A collector has no room for more tables, and their keys are not seen.",
	detect.SamplesLost:       "Samples expired before they were read, and are never counted.",
	detect.CoverageFell:      "Samples show a smaller part of the table's load than before, by CloudWatch.",
	detect.UnseenKeys:        "So many heavy keys are active that single ones cannot be told apart.",
	detect.TooManyHotKeys:    "More keys are hot than Keyheat follows.",
}
