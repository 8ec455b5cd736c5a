package detect

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/sketch"
)

// Table is what was seen of a table or index as a whole.
type Table struct {
	Table string `json:"table"`
	Index string `json:"index"`
	// Seconds is in how many seconds there was load.
	Seconds int64 `json:"seconds"`
	// Requests, WCU and RCU are the exact sums.
	Requests int64   `json:"requests"`
	WCU      float64 `json:"wcu"`
	RCU      float64 `json:"rcu"`
	// Unseen is the most that any key which is not listed can have had in one
	// second. Below the limits it proves that no hot key was missed.
	Unseen Unseen `json:"unseen"`
	// Provable is the smallest load of one second that the samples can prove to be
	// above a partition's limit; 0 where all requests are seen. Smaller ones are
	// proven by their mean of 10 or 60 seconds, or are possible.
	Provable Unseen `json:"provable"`
	// View is what its keys look like; null where that was not counted.
	View *View `json:"view"`

	total  sketch.Total
	unseen sketch.Load
}

// Unseen is a bound in units a second.
type Unseen struct {
	WCU float64 `json:"wcu"`
	RCU float64 `json:"rcu"`
}

// observeTable counts a window to its table, in place of what was known of that
// second.
func (b *Board) observeTable(w *sketch.Window) {
	id := tableID{w.Table, w.Index}
	t := b.tables[id]
	if t == nil {
		t = &Table{Table: w.Table, Index: w.Index}
		b.tables[id] = t
	}
	before, known := b.seconds[windowID{id, w.Second}]
	if !known {
		if w.Second < b.time.settled-horizon {
			return // counted and forgotten
		}
		t.Seconds++
	}
	b.seconds[windowID{id, w.Second}] = Table{total: w.Total}
	t.total.Requests += w.Total.Requests - before.total.Requests
	t.total.Write += w.Total.Write - before.total.Write
	t.total.Read += w.Total.Read - before.total.Read
	t.total.ReadLargest = max(t.total.ReadLargest, w.Total.ReadLargest)
	t.total.WriteLargest = max(t.total.WriteLargest, w.Total.WriteLargest)
	t.unseen = sketch.Load{Read: max(t.unseen.Read, w.Unseen.Read), Write: max(t.unseen.Write, w.Unseen.Write)}
}

// Tables answers every table and index, the most requested first.
func (b *Board) Tables() []Table {
	all := make([]Table, 0, len(b.tables))
	for _, t := range b.tables {
		seen := *t
		seen.Requests = t.total.Requests
		seen.WCU, seen.RCU = units(t.total.Write), units(t.total.Read)
		seen.Unseen = Unseen{WCU: units(t.unseen.Write), RCU: units(t.unseen.Read)}
		seen.Provable = Unseen{WCU: Provable(PartitionWrite, t.total.WriteLargest), RCU: Provable(PartitionRead, t.total.ReadLargest)}
		all = append(all, seen)
	}
	slices.SortFunc(all, func(x, y Table) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), cmp.Compare(x.Table, y.Table), cmp.Compare(x.Index, y.Index))
	})
	return all
}
