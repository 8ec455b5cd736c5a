package report

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// instant is one event-time second of a target, in Unix seconds.
type instant struct {
	sample.Target
	second int64
}

// openWindow is a second that is still being folded.
type openWindow struct {
	window sketch.Window
	// vector is the highest sequence number of each writer in the window.
	vector map[string]int64
	// unsaved is the lowest sequence number of each writer that the stored
	// window, if there is one, does not hold yet.
	unsaved map[string]int64
	// reopened says that it was closed before, and is for late samples.
	reopened bool
	// news says that the board has not seen all of it.
	news bool
}

// ledger holds the seconds that are open, and how far each writer was read. It
// begins empty at the stored cursors, and may be dropped at any time: all it
// holds is in deltas beyond the cursors, or stored.
type ledger struct {
	open map[instant]*openWindow
	// keys is how many keys all open windows list, the measure of memory.
	keys int
	// read is the highest sequence number of each writer that is folded, or
	// was before the ledger began.
	read map[string]int64
	// stored is the newest second of each target that may be in the store. A
	// window beyond it need not be looked for.
	stored map[sample.Target]int64
}

func newLedger(cursors map[string]int64) *ledger {
	return &ledger{
		open:   make(map[instant]*openWindow),
		read:   maps.Clone(cursors),
		stored: make(map[sample.Target]int64),
	}
}

// delta is a delta that could be read.
type delta struct {
	writer string
	seq    int64
	// windows are those of the same second together: a delta has one for each
	// shard and each time that a second was sealed.
	windows     map[instant][]*sketch.Window
	cardinality []sketch.Registers
}

func newDelta(writer string, seq int64, d *sketch.Delta) delta {
	all := make(map[instant][]*sketch.Window)
	for i := range d.Windows {
		w := &d.Windows[i]
		at := instant{sample.Target{Table: w.Table, Index: w.Index}, w.Second}
		all[at] = append(all[at], w)
	}
	return delta{writer: writer, seq: seq, windows: all, cardinality: d.Cardinality}
}

// missing are the seconds that these deltas add to and that are not in memory,
// of each target in order. They are loaded before the deltas are folded.
func (l *ledger) missing(deltas []delta) map[sample.Target][]int64 {
	seconds := make(map[sample.Target][]int64)
	for i := range deltas {
		for at := range deltas[i].windows {
			if l.open[at] == nil {
				seconds[at.Target] = append(seconds[at.Target], at.second)
			}
		}
	}
	for at, wanted := range seconds {
		slices.Sort(wanted)
		seconds[at] = slices.Compact(wanted)
	}
	return seconds
}

// reopen takes stored windows into memory again.
func (l *ledger) reopen(loaded map[instant]*openWindow) {
	for at, o := range loaded {
		l.open[at] = o
		l.keys += len(o.window.Keys)
	}
}

// fold adds deltas, which are in the order of each writer's numbers.
func (l *ledger) fold(deltas []delta) {
	for i := range deltas {
		d := &deltas[i]
		for at, windows := range d.windows {
			l.add(at, windows, d.writer, d.seq)
		}
		l.read[d.writer] = max(l.read[d.writer], d.seq)
	}
}

// add folds all that one delta has of one second, unless it is in there.
func (l *ledger) add(at instant, parts []*sketch.Window, writer string, seq int64) {
	o := l.open[at]
	if o == nil {
		o = &openWindow{
			window:  sketch.Window{Table: at.Table, Index: at.Index, Second: at.second},
			vector:  make(map[string]int64),
			unsaved: make(map[string]int64),
		}
		l.open[at] = o
	}
	if o.vector[writer] >= seq {
		return
	}
	l.keys -= len(o.window.Keys)
	for _, part := range parts {
		o.window.Merge(part)
	}
	l.keys += len(o.window.Keys)
	o.vector[writer] = seq
	if _, already := o.unsaved[writer]; !already {
		o.unsaved[writer] = seq
	}
	o.news = true
}

// maxTargets bounds what is remembered of targets. What is forgotten costs a
// look into the store.
const maxTargets = 16 << 10

// nothingStored is before every second.
const nothingStored = -1 << 62

// newest returns the newest second of a target that may be stored, and whether
// that is known.
func (l *ledger) newest(at sample.Target) (int64, bool) {
	second, known := l.stored[at]
	return second, known
}

// setNewest notes the newest stored second of a target; nothingStored for none.
func (l *ledger) setNewest(at sample.Target, second int64) {
	if len(l.stored) > maxTargets {
		clear(l.stored)
	}
	l.stored[at] = second
}

// reopened returns a stored window as an open one.
func reopened(row store.Window) (*openWindow, error) {
	w, err := body(row)
	if err != nil {
		return nil, err
	}
	return &openWindow{window: w, vector: row.Vector, unsaved: make(map[string]int64), reopened: true}, nil
}

// body reads a stored window's sketch.
func body(row store.Window) (sketch.Window, error) {
	var w sketch.Window
	if err := w.UnmarshalBinary(row.Body); err != nil {
		return w, fmt.Errorf("stored window of %s %s at %s: %w", row.Table, row.Index, row.Second, err)
	}
	return w, nil
}

// cursors are how far each writer's deltas are wholly stored, once the windows
// in closing are.
func (l *ledger) cursors(closing []instant, minutes map[string]int64) map[string]int64 {
	cursors := maps.Clone(l.read)
	hold := func(unsaved map[string]int64) {
		for writer, seq := range unsaved {
			cursors[writer] = min(cursors[writer], seq-1)
		}
	}
	closes := make(map[instant]bool, len(closing))
	for _, at := range closing {
		closes[at] = true
	}
	for at, o := range l.open {
		if !closes[at] {
			hold(o.unsaved)
		}
	}
	hold(minutes)
	return cursors
}

// closed forgets windows that are stored now.
func (l *ledger) closed(closing []instant) {
	for _, at := range closing {
		l.keys -= len(l.open[at].window.Keys)
		delete(l.open, at)
		if newest, known := l.stored[at.Target]; known {
			l.stored[at.Target] = max(newest, at.second)
		}
	}
}

// oldest are the open seconds, the oldest first, in an order that is always
// the same.
func (l *ledger) oldest() []instant {
	return slices.SortedFunc(maps.Keys(l.open), instant.compare)
}

// row is an open window in the store's form.
func (l *ledger) row(at instant, h horizon) (store.Window, error) {
	o := l.open[at]
	body, err := o.window.MarshalBinary()
	if err != nil {
		return store.Window{}, fmt.Errorf("write window of %s %s: %w", at.Table, at.Index, err)
	}
	_, complete := h.isOver(at.second)
	total := &o.window.Total
	return store.Window{
		Table: at.Table, Index: at.Index, Second: time.Unix(at.second, 0).UTC(),
		Requests:            total.Requests - total.ThrottledRequests,
		ReadMilli:           int64(total.Read - total.Throttled.Read),
		WriteMilli:          int64(total.Write - total.Throttled.Write),
		ThrottledRequests:   total.ThrottledRequests,
		ThrottledReadMilli:  int64(total.Throttled.Read),
		ThrottledWriteMilli: int64(total.Throttled.Write),
		Vector:              o.vector, Complete: complete, Body: body,
	}, nil
}
