package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// target is a table, or an index of one.
type target struct{ table, index string }

// instant is one event-time second of a target, in Unix seconds.
type instant struct {
	target
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
	stored map[target]int64
}

func newLedger(cursors map[string]int64) *ledger {
	return &ledger{
		open:   make(map[instant]*openWindow),
		read:   maps.Clone(cursors),
		stored: make(map[target]int64),
	}
}

// delta is a delta that could be read.
type delta struct {
	writer string
	seq    int64
	sketch.Delta
}

// parts are a delta's windows, those of the same second together: a delta has
// one for each shard and each time that a second was sealed.
func (d *delta) parts() map[instant][]*sketch.Window {
	all := make(map[instant][]*sketch.Window)
	for i := range d.Windows {
		w := &d.Windows[i]
		at := instant{target{w.Table, w.Index}, w.Second}
		all[at] = append(all[at], w)
	}
	return all
}

// fold adds deltas, which are in the order of each writer's numbers. When the
// store fails it, nothing is folded.
func (l *ledger) fold(ctx context.Context, st Store, deltas []delta) error {
	parts := make([]map[instant][]*sketch.Window, len(deltas))
	for i := range deltas {
		parts[i] = deltas[i].parts()
	}
	if err := l.load(ctx, st, parts); err != nil {
		return err
	}
	for i := range deltas {
		d := &deltas[i]
		for at, windows := range parts[i] {
			l.add(at, windows, d.writer, d.seq)
		}
		l.read[d.writer] = max(l.read[d.writer], d.seq)
	}
	return nil
}

// add folds all that one delta has of one second, unless it is in there.
func (l *ledger) add(at instant, parts []*sketch.Window, writer string, seq int64) {
	o := l.open[at]
	if o == nil {
		o = &openWindow{
			window:  sketch.Window{Table: at.table, Index: at.index, Second: at.second},
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

// load brings the stored windows that these deltas add to into memory.
func (l *ledger) load(ctx context.Context, st Store, parts []map[instant][]*sketch.Window) error {
	seconds := make(map[target][]int64)
	for _, p := range parts {
		for at := range p {
			if l.open[at] == nil {
				seconds[at.target] = append(seconds[at.target], at.second)
			}
		}
	}
	if len(l.stored) > maxTargets {
		clear(l.stored)
	}
	loaded := make(map[instant]*openWindow)
	for t, wanted := range seconds {
		newest, err := l.newest(ctx, st, t)
		if err != nil {
			return err
		}
		wanted = slices.DeleteFunc(wanted, func(s int64) bool { return s > newest })
		if err := loadWindows(ctx, st, t, wanted, loaded); err != nil {
			return err
		}
	}
	for at, o := range loaded {
		l.open[at] = o
		l.keys += len(o.window.Keys)
	}
	return nil
}

// nothingStored is before every second.
const nothingStored = -1 << 62

func (l *ledger) newest(ctx context.Context, st Store, t target) (int64, error) {
	if second, known := l.stored[t]; known {
		return second, nil
	}
	newest := int64(nothingStored)
	at, any, err := st.LastWindow(ctx, t.table, t.index)
	if err != nil {
		return 0, err
	}
	if any {
		newest = at.Unix()
	}
	l.stored[t] = newest
	return newest, nil
}

// loadWindows reads the wanted seconds of a target, as far as they are stored.
func loadWindows(ctx context.Context, st Store, t target, wanted []int64, into map[instant]*openWindow) error {
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	for len(wanted) > 0 {
		// One query a stretch of seconds that lie close to each other.
		n := 1
		for n < len(wanted) && wanted[n]-wanted[0] < store.DefaultLimit {
			n++
		}
		rows, err := st.Windows(ctx, store.WindowQuery{
			Table: t.table, Index: t.index,
			From: time.Unix(wanted[0], 0), To: time.Unix(wanted[n-1]+1, 0),
		})
		if err != nil {
			return err
		}
		for _, row := range rows {
			second := row.Second.Unix()
			if _, want := slices.BinarySearch(wanted[:n], second); !want {
				continue
			}
			w, err := body(row)
			if err != nil {
				return err
			}
			into[instant{t, second}] = &openWindow{
				window: w, vector: row.Vector, unsaved: make(map[string]int64), reopened: true,
			}
		}
		wanted = wanted[n:]
	}
	return nil
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
		if newest, known := l.stored[at.target]; known {
			l.stored[at.target] = max(newest, at.second)
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
		return store.Window{}, fmt.Errorf("write window of %s %s: %w", at.table, at.index, err)
	}
	_, complete := h.isOver(at.second)
	total := &o.window.Total
	return store.Window{
		Table: at.table, Index: at.index, Second: time.Unix(at.second, 0).UTC(),
		Requests:            total.Requests - total.ThrottledRequests,
		ReadMilli:           int64(total.Read - total.Throttled.Read),
		WriteMilli:          int64(total.Write - total.Throttled.Write),
		ThrottledRequests:   total.ThrottledRequests,
		ThrottledReadMilli:  int64(total.Throttled.Read),
		ThrottledWriteMilli: int64(total.Throttled.Write),
		Vector:              o.vector, Complete: complete, Body: body,
	}, nil
}
