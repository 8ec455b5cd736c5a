package board

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sketch"
)

// totals are a table's or index's sums so far.
type totals struct {
	seconds int64
	total   sketch.Total
	unseen  sketch.Load
}

// observeTable counts a window to its table, in place of what was known of that
// second.
func (b *Board) observeTable(w *sketch.Window) {
	id := targetOf(w)
	t := b.tables[id]
	if t == nil {
		t = &totals{}
		b.tables[id] = t
	}
	before, known := b.seconds[windowID{id, w.Second}]
	if !known {
		if w.Second < b.timeline.Settled-detect.Horizon {
			return // counted and forgotten
		}
		t.seconds++
	}
	b.seconds[windowID{id, w.Second}] = w.Total
	t.total.Requests += w.Total.Requests - before.Requests
	t.total.Write += w.Total.Write - before.Write
	t.total.Read += w.Total.Read - before.Read
	t.total.ReadLargest = max(t.total.ReadLargest, w.Total.ReadLargest)
	t.total.WriteLargest = max(t.total.WriteLargest, w.Total.WriteLargest)
	t.unseen = sketch.Load{Read: max(t.unseen.Read, w.Unseen.Read), Write: max(t.unseen.Write, w.Unseen.Write)}
}

// Tables answers every table and index, the most requested first.
func (b *Board) Tables() []detect.Table {
	all := make([]detect.Table, 0, len(b.tables))
	for id, t := range b.tables {
		all = append(all, detect.Table{
			Target: id, Seconds: t.seconds, Requests: t.total.Requests,
			WCU: detect.Units(t.total.Write), RCU: detect.Units(t.total.Read),
			Unseen:   detect.Unseen{WCU: detect.Units(t.unseen.Write), RCU: detect.Units(t.unseen.Read)},
			Provable: detect.Unseen{WCU: sampling.Provable(detect.PartitionWrite, t.total.WriteLargest), RCU: sampling.Provable(detect.PartitionRead, t.total.ReadLargest)},
		})
	}
	slices.SortFunc(all, func(x, y detect.Table) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), cmp.Compare(x.Table, y.Table), cmp.Compare(x.Index, y.Index))
	})
	return all
}
