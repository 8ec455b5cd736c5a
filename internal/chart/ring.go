package chart

import (
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
