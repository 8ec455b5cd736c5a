package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/store"
)

// compare orders seconds by time, and then by target.
func (i instant) compare(o instant) int {
	return cmp.Or(cmp.Compare(i.second, o.second), i.Target.Compare(o.Target))
}

// horizon says which seconds are over, in Unix seconds: those that begin
// before it.
type horizon struct {
	// complete: the watermark of every known partition has passed them.
	complete int64
	// over: the watermark of every partition that moves has passed them.
	// Beyond complete, some partition is stalled and may still hold samples of
	// them.
	over int64
}

// nothingOver closes nothing.
var nothingOver = horizon{complete: nothingStored, over: nothingStored}

// newHorizon judges by the watermarks of a snapshot that had everything which
// the watermarks promise. A partition is stalled when its watermark has not
// moved for so long, or when its deltas cannot be read. One that nobody has
// spoken for much longer is gone, and says nothing any more.
func newHorizon(snap store.Snapshot, c Config, unreadable func(writer string) bool) horizon {
	if snap.Behind {
		return nothingOver
	}
	marks := slices.DeleteFunc(slices.Clone(snap.Watermarks), func(m store.Watermark) bool {
		return snap.Now.Sub(m.Seen) > c.Forget
	})
	all, moving := store.Infinity, store.Infinity
	for _, m := range marks {
		blind := unreadable(m.Writer)
		if stalled := blind || snap.Now.Sub(m.Moved) > c.Stall; !stalled {
			moving = earlier(moving, m.Time)
		}
		if blind {
			all = store.Beginning
		}
		all = earlier(all, m.Time)
	}
	if len(marks) == 0 {
		all = store.Beginning
	}
	return horizon{complete: all.Unix(), over: max(all.Unix(), moving.Unix())}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// isOver says whether a second has ended, and whether all of it was counted.
// A watermark is a time before which nothing more is expected, so a second is
// over when its end is not after it.
func (h horizon) isOver(second int64) (over, complete bool) {
	return second < h.over, second < h.complete
}
