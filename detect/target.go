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
