package sample

import "time"

// Gap is a range of a source that will never be counted: its records were deleted before they
// were read, or could not be read. All loads in its time are lower bounds.
type Gap struct {
	// Source and Partition name the log, such as a Kafka topic and "orders/3", or a stream and
	// its shard.
	Source    string `json:"source"`
	Partition string `json:"partition"`
	// From and To are positions, empty if unknown; To is exclusive. To is before From if the
	// log was recreated, so that the position went back. They are equal if no record is known
	// to be missing.
	From string `json:"from"`
	To   string `json:"to"`
	// Since and Until bound the missing records in time; zero if unknown.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Reason is a sentence for a person that explains the gap.
	Reason string `json:"reason"`
}

// NoneKnown reports whether no record is known to be missing. Records may still have come and
// gone within the gap's time.
func (g *Gap) NoneKnown() bool { return g.From != "" && g.From == g.To }
