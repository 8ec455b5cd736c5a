package board

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/episode"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sketch"
)

// totals are the sums of every table and index so far.
type totals struct {
	sums map[detect.Target]*sum
	// open is what each second that is open to late data added to its sum.
	open map[windowID]addend
}

// addend is what an open second added.
type addend struct {
	sketch.Total
	callers sketch.Top
}

type windowID struct {
	target detect.Target
	second int64
}

// sum is that of one table or index.
type sum struct {
	seconds int64
	total   sketch.Total
	unseen  sketch.Load
	// callers are the weights of the callers of seconds that are closed.
	callers sketch.Top
	// flushes are the seconds in which many requests have the times of a flush, clocks
	// the producers who write times in whole seconds.
	flushes sampling.Flushes
	clocks  sampling.Clocks
}

func newTotals() totals {
	return totals{sums: map[detect.Target]*sum{}, open: map[windowID]addend{}}
}

// observe adds a window to the sum of its table, in place of what was known of
// that second. One that was evicted is counted already.
func (t totals) observe(w *sketch.Window, settled int64) {
	id := windowID{w.Target, w.Second}
	s := t.sums[id.target]
	if s == nil {
		s = &sum{}
		t.sums[id.target] = s
	}
	s.clocks.Observe(w)
	before, known := t.open[id]
	if !known {
		if w.Second < settled-detect.Horizon {
			return
		}
		s.seconds++
	}
	t.open[id] = addend{w.Total, w.Callers}
	s.total.Requests += w.Total.Requests - before.Requests
	s.total.Write += w.Total.Write - before.Write
	s.total.Read += w.Total.Read - before.Read
	s.total.ThrottledRequests += w.Total.ThrottledRequests - before.ThrottledRequests
	s.total.Throttled.Write += w.Total.Throttled.Write - before.Throttled.Write
	s.total.Throttled.Read += w.Total.Throttled.Read - before.Throttled.Read
	s.total.ReadLargest = max(s.total.ReadLargest, w.Total.ReadLargest)
	s.total.WriteLargest = max(s.total.WriteLargest, w.Total.WriteLargest)
	s.unseen = detect.MaxLoad(s.unseen, w.Unseen)
}

// isOpen reports whether what a second had is still known.
func (t totals) isOpen(of detect.Target, second int64) bool {
	_, open := t.open[windowID{of, second}]
	return open
}

// between returns the load of a table or index in some seconds, both ends included.
func (t totals) between(of detect.Target, from, to int64) (l sketch.Load) {
	for second := from; second <= to; second++ {
		l = l.Plus(t.open[windowID{of, second}].Load)
	}
	return l
}

// likely returns the load of a table or index in a second that was observed, with what
// was flushed as its mean.
func (t totals) likely(w *sketch.Window) sketch.Load {
	part, seconds := t.sums[w.Target].flushes.Table(w)
	return detect.PartOf(w.Total.Load, sampling.Left(part, seconds))
}

// evict closes the seconds before oldest.
func (t totals) evict(oldest int64) {
	over := func(id windowID) bool { return id.second < oldest }
	for _, id := range t.inOrder(over) {
		s := t.sums[id.target]
		s.callers = s.callers.Plus(t.open[id].callers)
		delete(t.open, id)
	}
}

// largest returns what one more sampled request of a table or index would add.
func (t totals) largest(of detect.Target) episode.Largest {
	if s := t.sums[of]; s != nil {
		return episode.Largest{Read: s.total.ReadLargest, Write: s.total.WriteLargest}
	}
	return episode.Largest{}
}

// reads returns the read units of a table or index.
func (t totals) reads(of detect.Target) float64 {
	if s := t.sums[of]; s != nil {
		return detect.Units(s.total.Read)
	}
	return 0
}

// inOrder returns the chosen ones of the open seconds, the oldest first: sums of callers
// are bounded, and so depend on the order in which they are made.
func (t totals) inOrder(chosen func(windowID) bool) (all []windowID) {
	for id := range t.open {
		if chosen(id) {
			all = append(all, id)
		}
	}
	slices.SortFunc(all, func(x, y windowID) int {
		return cmp.Or(cmp.Compare(x.second, y.second), x.target.Compare(y.target))
	})
	return all
}

// callers returns the shares of the callers of tables and indexes, of the load of
// requests whose callers are known.
func (t totals) callers(wanted map[detect.Target]bool) map[detect.Target]map[string]float64 {
	if len(wanted) == 0 {
		return nil
	}
	tops := map[detect.Target]sketch.Top{}
	for of := range wanted {
		if s := t.sums[of]; s != nil {
			tops[of] = s.callers
		}
	}
	for _, id := range t.inOrder(func(id windowID) bool { return wanted[id.target] }) {
		tops[id.target] = tops[id.target].Plus(t.open[id].callers)
	}
	shares := map[detect.Target]map[string]float64{}
	for of, top := range tops {
		all := 0.0
		for _, e := range top.Entries {
			all += float64(e.Weight)
		}
		shares[of] = map[string]float64{}
		for _, e := range top.Entries {
			shares[of][e.Text] = detect.Ratio(float64(e.Weight), all)
		}
	}
	return shares
}

// tables returns every table and index, the most requested first.
func (t totals) tables() []detect.Table {
	all := make([]detect.Table, 0, len(t.sums))
	for of, s := range t.sums {
		served := detect.Sub(s.total.Load, s.total.Throttled)
		all = append(all, detect.Table{
			Target: of, Seconds: s.seconds, Requests: s.total.Requests - s.total.ThrottledRequests,
			WCU: detect.Units(served.Write), RCU: detect.Units(served.Read),
			Throttled: detect.Throttled{
				Requests: s.total.ThrottledRequests, WCU: detect.Units(s.total.Throttled.Write), RCU: detect.Units(s.total.Throttled.Read),
			},
			Unseen: detect.Unseen{WCU: detect.Units(s.unseen.Write), RCU: detect.Units(s.unseen.Read)},
			Provable: detect.Unseen{
				WCU: sampling.Provable(detect.PartitionWrite, s.total.WriteLargest),
				RCU: sampling.Provable(detect.PartitionRead, s.total.ReadLargest),
			},
		})
	}
	slices.SortFunc(all, func(x, y detect.Table) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), cmp.Compare(x.Table, y.Table), cmp.Compare(x.Index, y.Index), x.Target.Compare(y.Target))
	})
	return all
}
