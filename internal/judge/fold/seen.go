package fold

import (
	"maps"
	"math/bits"
	"slices"
	"time"

	"github.com/keyheat/keyheat/store"
)

// maxUnseen is for how long before now, in seconds, it is written that seconds were
// seen when much time passes at once.
const maxUnseen = 7 * 24 * 60 * 60

// Seen holds the seconds of event time that were counted whole, to distinguish seconds
// without load from seconds that nobody counted.
type Seen struct {
	// next is the first second after the known ones; 0 before the first one.
	next int64
	// minutes are the unwritten ones, and the minute of next.
	minutes map[int64]uint64
}

// NewSeen returns the state after the newest stored minute, nil for none.
func NewSeen(newest *store.SeenMinute) *Seen {
	s := &Seen{minutes: make(map[int64]uint64)}
	if newest != nil {
		minute := newest.Minute.Unix()
		s.minutes[minute] = newest.Seconds
		s.next = minute + int64(bits.Len64(newest.Seconds))
	}
	return s
}

// Observe records a second with load: nothing is known of the time before the first.
func (s *Seen) Observe(at Instant) {
	if s.next == 0 {
		s.next = at.Second
	}
}

// Advance records that all seconds before the horizon were counted, except for gaps.
func (s *Seen) Advance(h Horizon, gaps []store.Gap, now time.Time) {
	complete := min(h.Complete, now.Unix())
	if s.next == 0 || complete <= s.next {
		return
	}
	for second := max(s.next, complete-maxUnseen); second < complete; second++ {
		if !Lost(gaps, second) {
			s.minutes[second-second%60] |= 1 << (second % 60)
		}
	}
	s.next = complete
}

// Lost reports whether a gap covers a second. One of unknown bounds covers none.
func Lost(gaps []store.Gap, second int64) bool {
	return slices.ContainsFunc(gaps, func(g store.Gap) bool {
		return !g.Since.IsZero() && !g.Until.IsZero() && g.Since.Unix() <= second && second <= g.Until.Unix()
	})
}

// Due reports whether a whole minute waits to be written; the current minute's part is
// written along with anything else.
func (s *Seen) Due() bool { return len(s.minutes) > 1 }

// Rows returns the minutes that are not written.
func (s *Seen) Rows() []store.SeenMinute {
	rows := make([]store.SeenMinute, 0, len(s.minutes))
	for _, minute := range slices.Sorted(maps.Keys(s.minutes)) {
		rows = append(rows, store.SeenMinute{Minute: time.Unix(minute, 0).UTC(), Seconds: s.minutes[minute]})
	}
	return rows
}

// MarkWritten forgets the minutes that are over.
func (s *Seen) MarkWritten() {
	maps.DeleteFunc(s.minutes, func(minute int64, _ uint64) bool { return minute+60 <= s.next })
}
