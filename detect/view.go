package detect

import (
	"time"

	"github.com/keyheat/keyheat/sample"
)

// View describes the keys and skew of a table or index as a whole.
type View struct {
	// From and To bound the counted time, To exclusive.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// DistinctKeys is the estimated number of used partition keys, with its 95% interval;
	// exact if Low equals High. If Value equals Low it is the least: sampling may have
	// drawn no request of other keys.
	DistinctKeys Figure `json:"distinct_keys"`
	// Top are the keys with the most load, at most TopKeys.
	Top []TopKey `json:"top"`
	// EffectiveKeys is the inverse of Simpson's index within a second: the number of
	// equally loaded keys with the same skew. Of N effective keys, two units of load in
	// the same second are for the same key one time in N. A table keyed by date has one
	// at a time, however many days it holds.
	//
	// It is null if no two requests of a second were for the same key. It is also null
	// for flush times, and if whole callers may have been sampled. For sampled calls of
	// several items, only different calls count.
	EffectiveKeys *float64 `json:"effective_keys"`
	// EffectivePartitions is the table's load when the hottest key alone fills a
	// partition, as a multiple of a partition's limit. It covers writes or reads,
	// whichever has more throughput. Null if no key stands out.
	EffectivePartitions *float64 `json:"effective_partitions"`
	// Ceiling is the load of the whole table when the hottest key alone fills a partition
	// at the observed skew, in units a second. It holds for any provisioned capacity:
	// throttling begins there at the latest. Keys in other partitions are served further,
	// and the table's load may rise above it.
	Ceiling Ceiling `json:"ceiling"`
	// WriteShare is the part of writes in the consumed throughput, where a write unit
	// weighs three read units.
	WriteShare float64  `json:"write_share"`
	Template   Template `json:"template"`
	// Hottest is the highest second of any key.
	Hottest HottestSecond `json:"hottest"`
	Design  Design        `json:"design"`
}

// TopKeys is the most keys that a view lists.
const TopKeys = 5

// TopKey is one of the keys with the most load.
type TopKey struct {
	Key     sample.Text `json:"key"`
	KeyType string      `json:"key_type"`
	// Share is the key's part of the load of all keys. Low and High are certain, sampling
	// aside.
	Share Figure `json:"share"`
	// WCU and RCU are the key's total units.
	WCU float64 `json:"wcu"`
	RCU float64 `json:"rcu"`
}

// Ceiling are units a second; null if no key bounds them.
type Ceiling struct {
	WCU *float64 `json:"wcu"`
	RCU *float64 `json:"rcu"`
}

// HottestSecond is the highest second of a key, with its proven load.
type HottestSecond struct {
	Key     sample.Text `json:"key"`
	KeyType string      `json:"key_type"`
	At      time.Time   `json:"at"`
	WCU     float64     `json:"wcu"`
	RCU     float64     `json:"rcu"`
	// Utilization is the larger share of a limit; 1 is the limit.
	Utilization float64 `json:"utilization"`
}

// DesignVerdict rates how well a partition key spreads load.
type DesignVerdict string

// The verdicts, the best first, and the word for no verdict.
const (
	DesignExcellent    DesignVerdict = "excellent"
	DesignGood         DesignVerdict = "good"
	DesignWatch        DesignVerdict = "watch"
	DesignPoor         DesignVerdict = "poor"
	DesignVeryPoor     DesignVerdict = "very poor"
	DesignCatastrophic DesignVerdict = "catastrophic"
	// DesignUnjudged means that there was too little traffic.
	DesignUnjudged DesignVerdict = "unjudged"
)

// DesignVerdicts lists every verdict, the best first, DesignUnjudged last.
func DesignVerdicts() []DesignVerdict {
	return []DesignVerdict{DesignExcellent, DesignGood, DesignWatch, DesignPoor, DesignVeryPoor, DesignCatastrophic, DesignUnjudged}
}

// Design is the verdict on a partition key.
type Design struct {
	Verdict DesignVerdict `json:"verdict"`
	// Rule is the rule that decides.
	Rule DesignRule `json:"rule"`
	// Key is the key with the largest share, or with the highest second; empty if none
	// stands out. Share is its part of the writes, or of the reads if they use more of the
	// throughput; 0 if unknown. Seconds is the time of a key that was there for a part of
	// the view; 0 throughout.
	Key     sample.Text `json:"key"`
	Share   float64     `json:"share"`
	Seconds int64       `json:"seconds"`
}

// DesignRule is the rule behind a verdict on a partition key.
type DesignRule string

// The rules, in their order.
const (
	RuleLittleTraffic DesignRule = "little_traffic"
	RuleYoung         DesignRule = "young" // the view is shorter than a minute
	RuleNoKeys        DesignRule = "no_keys"
	RuleIncomplete    DesignRule = "incomplete" // much of the load lacks a part of a proposed key
	RuleMasked        DesignRule = "masked"     // many keys may be behind the key with most load
	RuleOneKey        DesignRule = "one_key"    // every request has the same key
	RuleTimeKey       DesignRule = "time_key"   // the key is a time
	RuleShards        DesignRule = "shards"     // the key has numbered key shards, evenly used
	RuleUnevenShards  DesignRule = "uneven_shards"
	RuleFewValues     DesignRule = "few_values"     // a list of values that does not grow with the traffic
	RuleFewKeys       DesignRule = "few_keys"       // few ids, which may become more
	RuleUnknown       DesignRule = "shares_unknown" // sampling may have drawn whole callers
	RuleDominantKey   DesignRule = "dominant_key"
	RuleFullSecond    DesignRule = "full_second"  // even keys, too few for the highest second
	RuleBurst         DesignRule = "burst"        // one key exceeds the limit within a second
	RuleOrdered       DesignRule = "ordered"      // numbers in order, requests for the newest
	RuleLongKey       DesignRule = "long_key"     // a query must know many parts
	RuleNoDelimiter   DesignRule = "no_delimiter" // different values can make the same key
	RuleManyKeys      DesignRule = "many_keys"
	RuleLargest       DesignRule = "largest_key" // good, with one key to watch
	RuleEven          DesignRule = "even"
)

// Template is the pattern that most keys of a table share.
type Template struct {
	// Pattern is a key with placeholders: user#<id>. It is empty if no pattern has the
	// majority.
	Pattern sample.Text `json:"pattern"`
	// Keys counts the distinct keys that fit it, Of the compared ones.
	Keys int `json:"keys"`
	Of   int `json:"of"`
}
