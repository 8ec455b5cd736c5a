package detect

import "time"

// View is what a table or index looks like as a whole.
type View struct {
	// From and To bound what was counted, To exclusive.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// DistinctKeys is about how many partition keys were used, with its 95%
	// interval; exact where Low is High. Where Value is Low it is the least, as of
	// requests that were sampled: of how many keys none was drawn is not known.
	DistinctKeys Figure `json:"distinct_keys"`
	// Top are the keys with the most load, at most TopKeys.
	Top []TopKey `json:"top"`
	// EffectiveKeys is the skew within a second: two units of load in the same
	// second are for the same key one time in so many. It
	// is the inverse of Simpson's index; as many equally loaded keys would give
	// it. A table keyed by date has one at a time, however many days it holds. Null
	// where no two requests of a second were for the same key, where the times of
	// requests are those of flushes, and where callers may have been sampled as a whole. Of
	// sampled calls of several items only different calls count.
	EffectiveKeys *float64 `json:"effective_keys"`
	// EffectivePartitions is how many times the load that one partition serves the
	// table has when the hottest key alone fills a partition. Of writes or of reads, whichever has more of the throughput. Null when no key stands out.
	EffectivePartitions *float64 `json:"effective_partitions"`
	// Ceiling is the load of the whole table at which the hottest key alone fills a partition at
	// the observed skew, in units a second, whatever is provisioned: throttling begins there
	// at the latest. Keys in other partitions go on, and the table may be served more.
	Ceiling Ceiling `json:"ceiling"`
	// WriteShare is the part of writes in the consumed throughput, where a write
	// unit weighs three read units.
	WriteShare float64  `json:"write_share"`
	Template   Template `json:"template"`
	// Hottest is the highest second of any key.
	Hottest HottestSecond `json:"hottest"`
	Design  Design        `json:"design"`
	// Growing are warm keys whose peaks grow, whether or not there is a finding
	// of them.
	Growing []GrowingKey `json:"growing"`
}

// TopKeys is how many keys a view lists.
const TopKeys = 5

// TopKey is one of the keys with the most load.
type TopKey struct {
	Key     string `json:"key"`
	KeyType string `json:"key_type"`
	// Share is the key's part of the load of all keys, from Low to High for
	// certain, sampling aside.
	Share Figure `json:"share"`
	// WCU and RCU are what it had in all.
	WCU float64 `json:"wcu"`
	RCU float64 `json:"rcu"`
}

// Ceiling are units a second; null where no key bounds them.
type Ceiling struct {
	WCU *float64 `json:"wcu"`
	RCU *float64 `json:"rcu"`
}

// HottestSecond is the highest second of a key, with what was proven of it.
type HottestSecond struct {
	Key     string    `json:"key"`
	KeyType string    `json:"key_type"`
	At      time.Time `json:"at"`
	WCU     float64   `json:"wcu"`
	RCU     float64   `json:"rcu"`
	// Utilization is the larger share of a limit; 1 is the limit.
	Utilization float64 `json:"utilization"`
}

// GrowingKey is a warm key with a forecast.
type GrowingKey struct {
	Key      string   `json:"key"`
	KeyType  string   `json:"key_type"`
	WCU      float64  `json:"wcu"`
	RCU      float64  `json:"rcu"`
	Forecast Forecast `json:"forecast"`
}

// DesignVerdict is how well a partition key spreads load.
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
	// Why is one sentence.
	Why string `json:"why"`
}

// Template is what the keys of a table have in common.
type Template struct {
	// Pattern is a key with placeholders: user#<id>. Empty when no form has the
	// majority.
	Pattern string `json:"pattern"`
	// Keys of Of distinct keys that were compared fit it.
	Keys int `json:"keys"`
	Of   int `json:"of"`
}

// Forecast is the growth of a key's peaks and what follows from it. It is only
// made where the data prove growth; see package forecast.
type Forecast struct {
	// Unit is wcu or rcu: what grows.
	Unit string `json:"unit"`
	// Level is the weekly peak that the trend has reached now, in units a second.
	Level float64 `json:"level"`
	// Growth is by how much the weekly peak rises a day, in units a second, with
	// its 95% interval. Low is above 0.
	Growth Figure `json:"growth"`
	// At70 and At100 are when the weekly peak reaches that share of the
	// partition's limit; null when it has, or when the data do not say.
	At70  *Crossing `json:"at_70"`
	At100 *Crossing `json:"at_100"`
	// Days is on how many days the key was seen.
	Days int `json:"days"`
}

// Crossing is when a trend reaches a level, with the 95% interval of that.
type Crossing struct {
	At       time.Time `json:"at"`
	Earliest time.Time `json:"earliest"`
	Latest   time.Time `json:"latest"`
}
