package board

import (
	"github.com/keyheat/keyheat/detect/episode"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/detect/sharding"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Interval is the interval that is shown for an amount, and its proven part, in
// a table of which one more sampled request would add `largest` units.
func Interval(value sample.Milli, s sketch.Spread, largest float64) (proven, low, high sample.Milli) {
	a := sampling.NewAmounts(value, 0, s)
	return a.Proven, a.Low, a.High(largest)
}

// SeenOf answers what a board makes of one key of a window: the proven part of its
// writes and reads, and the intervals that are shown.
func SeenOf(w *sketch.Window, hash uint64) (proven, low, high sketch.Load) {
	k, _ := w.Key(hash)
	p := episode.NewPoint(w, &k)
	return sketch.Load{Read: p.Read.Proven, Write: p.Write.Proven},
		sketch.Load{Read: p.Read.Low, Write: p.Write.Low},
		sketch.Load{Read: p.Read.High(w.Total.ReadLargest), Write: p.Write.High(w.Total.WriteLargest)}
}

// Groups is how many keys a board remembers as sharded, or perhaps so.
func Groups(b *Board) int { return len(b.groups.Known) }

// MaxAllGroups is how many it may.
const MaxAllGroups = sharding.MaxAllGroups
