package fold

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// openMinute is one minute's distinct keys of a target, in memory until its
// end. Merging is by maximum, so that a delta may be read twice and no vector is
// needed.
type openMinute struct {
	registers *sketch.Cardinality
	writers   writers
	dirty     time.Time // the database's time at the first change not stored
}

// Minutes are the open minutes; an instant's second is the minute's beginning.
type Minutes map[Instant]*openMinute

// minuteDelay is the longest that a change of an open minute stays unwritten:
// 4 KiB a target would be much to write at every wake-up.
const minuteDelay = 10 * time.Second

// Missing returns the minutes that these deltas add to and that are not in memory.
func (m Minutes) Missing(deltas []Delta) []Instant {
	var all []Instant
	for i := range deltas {
		for _, r := range deltas[i].Cardinality {
			if at := minuteOf(r); m[at] == nil {
				all = append(all, at)
			}
		}
	}
	slices.SortFunc(all, Instant.compare)
	return slices.Compact(all)
}

func minuteOf(r sketch.Registers) Instant {
	return Instant{r.Target, r.Minute}
}

// Reopen takes a minute into memory, with its stored registers where there are
// any.
func (m Minutes) Reopen(at Instant, stored []store.Cardinality) (err error) {
	o := &openMinute{registers: &sketch.Cardinality{}}
	if len(stored) > 0 {
		if o.registers, err = sketch.CardinalityFromBytes(stored[0].Registers); err != nil {
			return err
		}
	}
	m[at] = o
	return nil
}

// Fold adds deltas whose minutes are loaded.
func (m Minutes) Fold(deltas []Delta, now time.Time) {
	for i := range deltas {
		d := &deltas[i]
		for _, r := range d.Cardinality {
			o := m[minuteOf(r)]
			o.registers.Merge(r)
			o.writers.writer(d.writer).wait(d.seq)
			if o.dirty.IsZero() {
				o.dirty = now
			}
		}
	}
}

// Due returns the minutes to write now: ended ones, and ones that wait too long.
func (m Minutes) Due(h Horizon, now time.Time) []Instant {
	var all []Instant
	for at, o := range m {
		over, _ := h.IsOver(at.Second + 59)
		if over || !o.dirty.IsZero() && now.Sub(o.dirty) >= minuteDelay {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, Instant.compare)
	return all
}

// Rows returns minutes in the store's form.
func (m Minutes) Rows(due []Instant) []store.Cardinality {
	var rows []store.Cardinality
	for _, at := range due {
		if o := m[at]; !o.dirty.IsZero() {
			rows = append(rows, store.Cardinality{
				Target: at.Target, Minute: time.Unix(at.Second, 0).UTC(),
				Registers: o.registers.Bytes(),
			})
		}
	}
	return rows
}

// Waiting lowers the sequence numbers that cursors wait for to the ones of minutes that are
// not due.
func (m Minutes) Waiting(due []Instant, waiting map[string]int64) {
	for at, o := range m {
		if _, written := slices.BinarySearchFunc(due, at, Instant.compare); !written {
			o.writers.hold(waiting)
		}
	}
}

// MarkWritten drops minutes that are over, and marks the others as stored.
func (m Minutes) MarkWritten(due []Instant, h Horizon) {
	for _, at := range due {
		if over, _ := h.IsOver(at.Second + 59); over {
			delete(m, at)
			continue
		}
		m[at].writers = nil
		m[at].dirty = time.Time{}
	}
}
