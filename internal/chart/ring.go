package chart

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample/position"
)

// Piece is a partition in the picture of the key space. The edges lie somewhere between the
// beginning of Unsure and Sure, and behind its end: Unsure reaches to where the next
// partition begins for certain.
type Piece struct {
	Unsure, Sure Span
	// Class is the colour of its load. Label is in the Middle of it, and empty if there is
	// no room.
	Class, Label, Middle string
}

// labelWidth is the part of the width in which a label has room, and leastPiece the
// narrowest partition that a reader sees.
const labelWidth, leastPiece = 0.045, 0.001

// Ring draws the key space of a table whose ranges of partitions are claimed. A partition
// without a key has no piece, and no label if its load was not measured.
func Ring(v *partition.View, measured bool) (pieces []Piece) {
	if !v.State.Claims() {
		return nil
	}
	for i := range v.Partitions {
		c := &v.Partitions[i]
		if !c.Keys {
			continue
		}
		from, width := place(c.Low), max(leastPiece, place(c.High)-place(c.Low))
		p := Piece{
			Unsure: Span{percent(place(c.From)), percent(place(c.To) - place(c.From))},
			Sure:   Span{percent(from), percent(width)}, Middle: percent(from + width/2),
			Class: class(colour(c.Utilization())),
		}
		if measured && width >= labelWidth {
			p.Label = wording.Percent(c.Utilization())
		}
		pieces = append(pieces, p)
	}
	return pieces
}

// place returns where a position lies in the key space, from 0 to 1.
func place(p position.Position) float64 {
	const ring = 1 << 63 * 2.0
	return float64(p) / ring
}

// Splits are the splits of a table in a picture: time from left to right, the key space from
// top to bottom, in percent.
type Splits struct {
	Begin, End time.Time
	// Edges are the present edges between partitions.
	Edges []string
	Marks []Mark
}

// Mark is a split in the picture: a line at its time, over the range of the partition that was
// split, with its cut.
type Mark struct {
	detect.PartitionSplit
	X, From, To, Cut string
}

// latestMark is the last part of the width where a mark and the cut's line beside it have
// room.
const latestMark = 0.985

// NewSplits draws the splits of a time, or up to its end if it has no beginning; nil if
// there was none, or no ranges are claimed.
func NewSplits(v *partition.View, begin, end time.Time) *Splits {
	if !v.State.Claims() || len(v.Splits) == 0 {
		return nil
	}
	if begin.IsZero() {
		first := v.Splits[0].At
		begin = first.Add(-max(time.Minute, end.Sub(first)/20)) // room before the first mark
	}
	p := &Splits{Begin: begin, End: end}
	for _, s := range v.Splits {
		if s.At.Before(begin) || !s.At.Before(end) {
			continue
		}
		x := float64(s.At.Sub(begin)) / float64(end.Sub(begin))
		cut := s.CutLow + (s.CutHigh-s.CutLow)/2
		p.Marks = append(p.Marks, Mark{s, percent(min(x, latestMark)), percent(place(s.Low)), percent(place(s.High)), percent(place(cut))})
	}
	if len(p.Marks) == 0 {
		return nil
	}
	for i := range v.Partitions {
		if c := &v.Partitions[i]; c.Keys && c.From > 0 {
			p.Edges = append(p.Edges, percent(place(c.Low)))
		}
	}
	return p
}
