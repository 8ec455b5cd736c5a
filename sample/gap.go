package sample

import "time"

// Gap is a range of a source that was not, and will never be, counted: its
// records were gone before they were read, or could not be read. What is known
// of the keys in that time is a lower bound.
type Gap struct {
	// Source and Partition name the log, such as a Kafka topic and "orders/3", or
	// a stream's shard.
	Source    string `json:"source"`
	Partition string `json:"partition"`
	// From and To are positions, To exclusive; empty when not known. To lies
	// before From when the log was made anew: the position goes back. They are equal
	// where no record is known to be missing.
	From string `json:"from"`
	To   string `json:"to"`
	// Since and Until bound the missing records in time; zero when not known.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Reason says in a sentence why, for a person.
	Reason string `json:"reason"`
}

// NoneKnown reports whether no record is known to be missing: records may have come in the
// time of the gap, and gone, before anybody looked.
func (g *Gap) NoneKnown() bool { return g.From != "" && g.From == g.To }
