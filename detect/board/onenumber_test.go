package board_test

import (
	"slices"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/sketch"
)

// TestTheFirstFixFlipsOnce holds what is advised over an incident's time: while it is open
// whether splits help, no new keys come first. It is known in two minutes, and then stays.
func TestTheFirstFixFlipsOnce(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]detect.Fix{
		"hot-collection-uuid-sort":    {detect.FixAwaitVerdict, detect.FixWaitForSplit},
		"retries-of-the-policy-since": {detect.FixAwaitVerdict, detect.FixWaitForSplit},
		"constant-key":                {detect.FixShardedKey}, // it has all of its table's load
	} {
		all := fieldWorlds(t)
		w := &all[slices.IndexFunc(all, func(w fieldWorld) bool { return w.Name == name })]
		b := board.New(board.Options{Facts: w.facts})
		b.Settle(w.Start.Unix()-1, true)
		var seen []detect.Fix
		w.Windows(7, func(second int64, windows []sketch.Window) {
			for i := range windows {
				b.Observe(&windows[i])
			}
			b.Settle(second, true)
			if second%5 > 0 {
				return
			}
			found := b.Findings()
			for i := range found {
				f := &found[i]
				if f.Subject != detect.KeyWrites || f.State != detect.Firing || len(f.Advice) == 0 {
					continue
				}
				first := f.Advice[0].Fix
				if len(seen) == 0 || seen[len(seen)-1] != first {
					seen = append(seen, first)
				}
			}
		})
		if !slices.Equal(seen, want) {
			t.Errorf("%s: the first fixes are %v, want %v", name, seen, want)
		}
	}
}
