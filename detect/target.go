package detect

import "github.com/keyheat/keyheat/sample"

// Target is a table or index, in one account and Region. Load is counted and judged by
// target. An empty account or Region is unknown, an empty index means the table itself.
type Target = sample.Target

// KeyRef is a partition key of a target. Without a key it is the target as a whole.
type KeyRef struct {
	Target
	// Key is the partition key's text. KeyType is its type: S, N, B, or one letter per
	// attribute.
	Key     sample.Text `json:"key"`
	KeyType string      `json:"key_type"`
}

// PartitionKey returns the partition key as samples have it.
func (k *KeyRef) PartitionKey() sample.Key { return sample.Key{Type: k.KeyType, Text: string(k.Key)} }

// Figure is an amount a second, in units, with its bounds. The truth lies between Low and
// High: for certain if all requests were seen, with 95% if they were sampled.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// ExactFigure returns an amount without doubt.
func ExactFigure(v float64) Figure { return Figure{Value: v, Low: v, High: v} }

// Loads are write and read units a second.
type Loads struct {
	WCU Figure `json:"wcu"`
	RCU Figure `json:"rcu"`
}

// Doubt is a load of a key that may have been over a partition's limit, in one second or
// on average over a minute. Its requests have the times of a flush, it is unknown how they
// were sampled, the samples are too few to prove the mean, or it may be reads or writes.
type Doubt struct {
	KeyRef
	// Unit is wcu or rcu, Most the load in these units.
	Unit string  `json:"unit"`
	Most float64 `json:"most"`
}
