package partitions

import (
	"time"

	"github.com/keyheat/keyheat/detect"
)

// History is the splits of a table in a picture: time from left to right, the key space from top
// to bottom, both in thousandths.
type History struct {
	Begin, End time.Time
	// Edges are the present edges between partitions.
	Edges []float64
	Marks []Mark
}

// Mark is a split in the picture: a line at its time, over the range of the partition that was
// split, with its cut.
type Mark struct {
	detect.PartitionSplit
	X, From, To, Cut float64
}

// latestMark is the last thousandth where a mark and the cut's line beside it have room.
const latestMark = 985

// History returns the splits of the chosen time, or all of them; nil if there was none, or no
// ranges are claimed.
func (t *Table) History() *History {
	if !t.State.Claims() || len(t.Splits) == 0 {
		return nil
	}
	h := &History{Begin: t.shown.From, End: t.shown.To}
	if !t.shown.Chosen {
		first := t.Splits[0].At
		h.End = t.now
		h.Begin = first.Add(-max(time.Minute, h.End.Sub(first)/20)) // room before the first mark
	}
	for _, s := range t.Splits {
		if s.At.Before(h.Begin) || !s.At.Before(h.End) {
			continue
		}
		x := 1000 * float64(s.At.Sub(h.Begin)) / float64(h.End.Sub(h.Begin))
		cut := s.CutLow + (s.CutHigh-s.CutLow)/2
		h.Marks = append(h.Marks, Mark{PartitionSplit: s, X: min(x, latestMark), From: thousandths(s.Low), To: thousandths(s.High), Cut: thousandths(cut)})
	}
	if len(h.Marks) == 0 {
		return nil
	}
	for i := range t.Partitions {
		if p := &t.Partitions[i]; p.Keys && p.From > 0 {
			h.Edges = append(h.Edges, thousandths(p.Low))
		}
	}
	return h
}
