package detect

import "github.com/keyheat/keyheat/sample"

// Target is what load is counted for and judged: a table or an index of it, in one
// account and Region. An empty account or
// Region is unknown, an empty index the table itself.
type Target = sample.Target

// KeyRef is a partition key of a target. Without a key it is the target as a
// whole.
type KeyRef struct {
	Target
	// Key is the partition key's text, KeyType its type: S, N, B, or a letter
	// an attribute.
	Key     string `json:"key"`
	KeyType string `json:"key_type"`
}

// Figure is an amount a second, in units, with its bounds: the truth lies
// between Low and High, for certain where all requests were seen and with 95%
// where they were sampled.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Loads are write and read units a second.
type Loads struct {
	WCU Figure `json:"wcu"`
	RCU Figure `json:"rcu"`
}
