package detect

import "time"

// Table is what was seen of a table or index as a whole.
type Table struct {
	Target
	// Seconds is in how many seconds there was load.
	Seconds int64 `json:"seconds"`
	// Requests are those that no sample marks as throttled, of sampled ones those that were
	// drawn; WCU and RCU are their units. Where Throttled has none the samples may not tell
	// what was throttled, and not all of these need have been served.
	Requests int64   `json:"requests"`
	WCU      float64 `json:"wcu"`
	RCU      float64 `json:"rcu"`
	// Throttled is what was throttled, beside these.
	Throttled Throttled `json:"throttled"`
	// Unseen is the most that any key which is not listed can have had in one
	// second. Below the limits it proves that no hot key was missed.
	Unseen Unseen `json:"unseen"`
	// Provable is the smallest load of one second that the samples can prove to be
	// above a partition's limit; 0 where all requests are seen. Smaller ones are
	// proven by their mean of 10 or 60 seconds, or are possible.
	Provable Unseen `json:"provable"`
	// View is what its keys look like; null where that was not counted.
	View *View `json:"view"`
	// CloudWatch is what DynamoDB's own metrics say; null where they are not read.
	CloudWatch *TableCloudWatch `json:"cloudwatch"`
}

// Throttled is what DynamoDB throttled of a table or index.
type Throttled struct {
	// Requests counts attempts: those that SDKs made again are among them.
	Requests int64 `json:"requests"`
	// WCU and RCU are the units that they asked for: each request's once, where its
	// producer tells which attempts were the same request's.
	WCU float64 `json:"wcu"`
	RCU float64 `json:"rcu"`
}

// TableCloudWatch is what CloudWatch says of a table or index.
type TableCloudWatch struct {
	// Why says it in sentences; what went wrong, where CloudWatch could not be read.
	Why string `json:"why"`
	// Through is the end of the last minute that was read; null for none.
	Through *time.Time `json:"through"`
	// Write and Read are the parts of the real load that the samples show, 1 for all;
	// null where nothing tells.
	Write *Figure `json:"write"`
	Read  *Figure `json:"read"`
}

// Unseen is a bound in units a second.
type Unseen struct {
	WCU float64 `json:"wcu"`
	RCU float64 `json:"rcu"`
}
