package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// openMinute is one minute's distinct keys of a target, in memory until its
// end. Merging is by maximum, so reading a delta twice does no harm and no
// vector is needed.
type openMinute struct {
	registers *sketch.Cardinality
	unsaved   map[string]int64
	dirty     time.Time // the database's time at the first change not stored
}

// minutes are the open minutes; an instant's second is the minute's beginning.
type minutes map[instant]*openMinute

// minuteDelay is the longest that a change of an open minute stays unwritten:
// 4 KiB a target would be much to write at every wake-up.
const minuteDelay = 10 * time.Second

// missing are the minutes that these deltas add to and that are not in memory.
func (m minutes) missing(deltas []delta) []instant {
	var all []instant
	for i := range deltas {
		for _, r := range deltas[i].cardinality {
			if at := minuteOf(r); m[at] == nil {
				all = append(all, at)
			}
		}
	}
	slices.SortFunc(all, instant.compare)
	return slices.Compact(all)
}

func minuteOf(r sketch.Registers) instant {
	return instant{sample.Target{Table: r.Table, Index: r.Index}, r.Minute}
}

// reopen takes a minute into memory, with its stored registers where there are
// any.
func (m minutes) reopen(at instant, stored []store.Cardinality) (err error) {
	o := &openMinute{registers: &sketch.Cardinality{}, unsaved: make(map[string]int64)}
	if len(stored) > 0 {
		if o.registers, err = sketch.CardinalityFromBytes(stored[0].Registers); err != nil {
			return err
		}
	}
	m[at] = o
	return nil
}

// fold adds deltas whose minutes are loaded.
func (m minutes) fold(deltas []delta, now time.Time) {
	for i := range deltas {
		d := &deltas[i]
		for _, r := range d.cardinality {
			o := m[minuteOf(r)]
			o.registers.Merge(r)
			if _, already := o.unsaved[d.writer]; !already {
				o.unsaved[d.writer] = d.seq
			}
			if o.dirty.IsZero() {
				o.dirty = now
			}
		}
	}
}

// due are the minutes to write now: those that are over, and those that wait
// too long.
func (m minutes) due(h horizon, now time.Time) []instant {
	var all []instant
	for at, o := range m {
		over, _ := h.isOver(at.second + 59)
		if over || !o.dirty.IsZero() && now.Sub(o.dirty) >= minuteDelay {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, instant.compare)
	return all
}

// rows are minutes in the store's form.
func (m minutes) rows(due []instant) []store.Cardinality {
	var rows []store.Cardinality
	for _, at := range due {
		if o := m[at]; !o.dirty.IsZero() {
			rows = append(rows, store.Cardinality{
				Table: at.Table, Index: at.Index, Minute: time.Unix(at.second, 0).UTC(),
				Registers: o.registers.Bytes(),
			})
		}
	}
	return rows
}

// unsaved is the lowest sequence number of each writer in the minutes that are
// not due.
func (m minutes) unsaved(due []instant) map[string]int64 {
	lowest := make(map[string]int64)
	for at, o := range m {
		if _, written := slices.BinarySearchFunc(due, at, instant.compare); written {
			continue
		}
		for writer, seq := range o.unsaved {
			lowest[writer] = min(cmp.Or(lowest[writer], seq), seq)
		}
	}
	return lowest
}

// written forgets minutes that are over, and notes the others as stored.
func (m minutes) written(due []instant, h horizon) {
	for _, at := range due {
		if over, _ := h.isOver(at.second + 59); over {
			delete(m, at)
			continue
		}
		clear(m[at].unsaved)
		m[at].dirty = time.Time{}
	}
}
