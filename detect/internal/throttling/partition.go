package throttling

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// FullPartition returns the fullest partition of a table in a second, if its keys together
// were refused, or proven above the limit, though none of them has the policy's share of
// the limit. It is nil if no partition is, or the map is. likely is the second's load, with
// flushed load as its mean: flushed load proves no second above the limit.
func FullPartition(w *sketch.Window, likely sketch.Load, m *partition.Map, warning float64) (full *detect.PartitionLoad) {
	// The cells of a partition may hide a key with the policy's share.
	proves := likely == w.Total.Load && (len(w.Cells) == 0 || !isNear(w.Unseen, warning))
	exceeds := proves && (w.Total.Write > detect.PartitionWrite || w.Total.Read > detect.PartitionRead)
	if m == nil || !refusesKeys(w) && !(exceeds && m.MayExceed(w)) {
		return nil // most seconds
	}
	loads := m.Loads()
	loads.Add(w)
	all := loads.ListStrained()
	for i := range all {
		c := &all[i]
		if !refusesKeys(w) {
			c.RefusedWCU, c.RefusedRCU = 0, 0 // for lack of the table's capacity
		}
		several := (c.KeyCount > 1 || len(w.Cells) > 0) && c.HottestShare() < warning
		over := c.Utilization() > 1 && proves
		if several && (over || refuses(c)) && (full == nil || isFuller(c, full)) {
			full = c
		}
	}
	return full
}

// refusesKeys reports whether partitions refused requests in a second, and nothing else
// did: a key's load does not carry the reason.
func refusesKeys(w *sketch.Window) bool {
	return w.Total.Refused[sample.KeyRange] > 0 && w.Total.Refused[sample.KeyRange] == w.Total.ThrottledRequests
}

func refuses(l *detect.PartitionLoad) bool { return l.RefusedWCU+l.RefusedRCU > 0 }

// isFuller reports whether a partition refused more than another one, or carried more if
// both refused the same.
func isFuller(a, b *detect.PartitionLoad) bool {
	more := a.RefusedWCU + a.RefusedRCU - b.RefusedWCU - b.RefusedRCU
	return more > 0 || more == 0 && a.Utilization() > b.Utilization()
}
