package model

import (
	"math"
	"time"
)

// Write is one change of a table: an entry of the oracle. What changed nothing,
// or was refused, is none.
type Write struct {
	// Time is when it was written, to the nanosecond.
	Time time.Time
	// Key is the item's; Old and New are the item before and after, nil where it
	// was not there.
	Key, Old, New Item
	// Expired is set when time to live deleted it.
	Expired bool
	// Stream, Shard and Sequence say where the stream has it; empty when the
	// table had none at the time.
	Stream, Shard, Sequence string
}

// Charge is what a write costs on one key of the table or of an index.
type Charge struct {
	// Index is empty for the table itself.
	Index string
	// Key is the partition key: one attribute, or up to four of an index.
	Key Item
	// Units are write units; a change that is free (time to live) has none.
	Units float64
	// Delete is set when an entry left this key.
	Delete bool
}

// writeUnits is one for each begun 1,024 bytes, and at least one. Guide,
// "DynamoDB read and write operations".
func writeUnits(bytes int) float64 {
	return max(1, math.Ceil(float64(bytes)/1024))
}

// Charges is what a write costs: on the table's key by the larger of the item
// before and after it, and on the keys of the global indexes that it touches
// (Guide, "Using global secondary indexes in DynamoDB", provisioned throughput
// considerations). Local indexes are left out: they take the table's capacity,
// which a stream's reader does not derive.
func (s Schema) Charges(w Write) []Charge {
	costs := func(bytes int) float64 {
		if w.Expired {
			return 0
		}
		return writeUnits(bytes)
	}
	all := []Charge{{
		Key: w.Key.Only(s.Key.Partition...), Units: costs(max(w.Old.Size(), w.New.Size())), Delete: w.New == nil,
	}}
	for _, x := range s.Indexes {
		if x.Local {
			continue
		}
		before, after := s.entry(x, w.Old), s.entry(x, w.New)
		moved := before != nil && after != nil && !before.Only(x.Key.Names()...).Equal(after.Only(x.Key.Names()...))
		switch {
		case before.Equal(after):
			continue
		case before != nil && (after == nil || moved):
			all = append(all, Charge{Index: x.Name, Key: before.Only(x.Key.Partition...), Units: costs(before.Size()), Delete: true})
		}
		switch {
		case after == nil:
		case before == nil || moved:
			all = append(all, Charge{Index: x.Name, Key: after.Only(x.Key.Partition...), Units: costs(after.Size())})
		default:
			all = append(all, Charge{Index: x.Name, Key: after.Only(x.Key.Partition...), Units: costs(max(before.Size(), after.Size()))})
		}
	}
	return all
}

// entry is what an index holds of an item; nil when the item lacks one of the
// index's keys, or has it in another type.
func (s Schema) entry(x Index, i Item) Item {
	if i == nil {
		return nil
	}
	for _, name := range x.Key.Names() {
		if v, ok := i[name]; !ok || !v.isKey(s.TypeOf(name)) {
			return nil
		}
	}
	names := append(s.Key.Names(), x.Key.Names()...)
	switch x.Projection {
	case "KEYS_ONLY":
		return i.Only(names...)
	case "INCLUDE":
		return i.Only(append(names, x.Include...)...)
	}
	return i
}
