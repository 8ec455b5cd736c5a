package detect

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Interval is the interval that is shown for an amount, and its proven part, in
// a table of which one more sampled request would add `largest` units.
func Interval(value sample.Milli, s sketch.Spread, largest float64) (proven, low, high sample.Milli) {
	a := amountsOf(value, 0, s)
	return a.proven, a.low, a.high(largest)
}

// SeenOf answers what a board makes of one key of a window: the proven part of its
// writes and reads, and the intervals that are shown.
func SeenOf(w *sketch.Window, hash uint64) (proven, low, high sketch.Load) {
	k, _ := w.Key(hash)
	p := newPoint(w, &k)
	return sketch.Load{Read: p.read.proven, Write: p.write.proven},
		sketch.Load{Read: p.read.low, Write: p.write.low},
		sketch.Load{Read: p.read.high(w.Total.ReadLargest), Write: p.write.high(w.Total.WriteLargest)}
}

// Groups is how many keys a board remembers as sharded, or perhaps so.
func Groups(b *Board) int { return len(b.groups.known) }

// MaxAllGroups is how many it may.
const MaxAllGroups = maxAllGroups
