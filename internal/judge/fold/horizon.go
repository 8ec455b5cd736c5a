package fold

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/store"
)

// compare orders seconds by time, and then by target.
func (i Instant) compare(o Instant) int {
	return cmp.Or(cmp.Compare(i.Second, o.Second), i.Target.Compare(o.Target))
}

// Horizon is the time before which seconds are over, in Unix seconds.
type Horizon struct {
	// Complete: the watermark of every known partition has passed them.
	Complete int64
	// Over: the watermark of every partition that moves has passed them.
	// Beyond Complete, some partition is stalled and may still hold samples of
	// them.
	Over int64
}

// NewHorizon returns the horizon that follows from the watermarks of a snapshot. They promise
// nothing of seconds that unread deltas may add to. A partition is stalled when its watermark has not
// moved for stall, or when its deltas cannot be read. One that
// no collector has reported in forget is gone, and is not waited for. No second is over
// before its time has come by the store's clock, whatever a watermark promises: the time of
// a producer whose clock is ahead must not pass for everybody.
func NewHorizon(snap store.Snapshot, stall, forget time.Duration, unreadable func(writer string) bool) Horizon {
	marks := slices.DeleteFunc(slices.Clone(snap.Watermarks), func(m store.Watermark) bool {
		return snap.Now.Sub(m.Seen) > forget
	})
	all, moving := snap.Now, snap.Now
	for _, m := range marks {
		unread := unreadable(m.Writer)
		if stalled := unread || m.Time.Before(snap.Now) && snap.Now.Sub(m.Moved) > stall; !stalled {
			moving = earlier(moving, m.Time)
		}
		if unread {
			all = store.Beginning
		}
		all = earlier(all, m.Time)
	}
	if len(marks) == 0 {
		all = store.Beginning
	}
	h := Horizon{Complete: all.Unix(), Over: max(all.Unix(), moving.Unix())}
	if snap.Behind {
		h = Horizon{Complete: min(h.Complete, snap.Unread), Over: min(h.Over, snap.Unread)}
	}
	return h
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// IsOver reports whether a second has ended, and whether all of it was counted. No record
// before a watermark is expected any more, so a second is over when its end is not after
// it.
func (h Horizon) IsOver(second int64) (over, complete bool) {
	return second < h.Over, second < h.Complete
}
