package board_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/checkpoint"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// handOver returns a board with options that goes on where another one stands: with what the
// other remembers, as bytes, and with the stored seconds of what it has observed.
func handOver(t testing.TB, from *board.Board, o board.Options, observed []*sketch.Window) *board.Board {
	t.Helper()
	var all []*board.Memory
	first := map[sample.Target]int64{}
	for _, m := range from.Memories(func(board.Change) bool { return true }) {
		again := new(board.Memory)
		must(t, checkpoint.Unmarshal(checkpoint.Marshal(m), again))
		all, first[m.Target()] = append(all, again), m.From()
	}
	clock, again := from.Clock(), board.Clock{}
	must(t, checkpoint.Unmarshal(checkpoint.Marshal(&clock), &again))
	to := board.New(o)
	to.Restore(slices.Values(all))
	windows := slices.DeleteFunc(slices.Clone(observed), func(w *sketch.Window) bool { return w.Second < first[w.Target] })
	slices.SortStableFunc(windows, func(a, b *sketch.Window) int { return cmp.Compare(a.Second, b.Second) })
	to.Replay(slices.Values(windows))
	to.Resume(again)
	return to
}
