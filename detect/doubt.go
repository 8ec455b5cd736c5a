package detect

// Doubt is a load of a key in one second that may have been over a partition's limit. Its
// requests have the times of a flush, or it is unknown how they were sampled.
type Doubt struct {
	KeyRef
	// Unit is wcu or rcu, Most the load in these units.
	Unit string  `json:"unit"`
	Most float64 `json:"most"`
}
