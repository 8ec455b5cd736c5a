// Package fold sums the collectors' counts in memory: their deltas become seconds of
// tables and indexes, minutes of distinct keys and the hourly views of tables. It knows no
// store: the caller passes rows in and gets rows back, and each part knows the unwritten
// deltas of each writer, so that cursors wait for them.
package fold

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// Instant is one event-time second of a target, in Unix seconds.
type Instant struct {
	sample.Target
	Second int64
}

// OpenWindow is a second that is still being folded.
type OpenWindow struct {
	Window sketch.Window
	// writers are the writers of the window's deltas. Deltas that the stored window holds
	// are unsaved too, because roll-ups may lack them.
	writers writers
	// reopened reports that it was closed before, and is for late samples.
	reopened bool
	// viewed reports that the views have counted it: a judgement that the store
	// fails closes its seconds again.
	viewed bool
	// Unjudged reports that the board has not seen all of it.
	Unjudged bool
}

// cellsPerKey is about how many cells take the memory of a key.
const cellsPerKey = 6

// Size returns the second's memory as a number of keys.
func (o *OpenWindow) Size() int { return len(o.Window.Keys) + len(o.Window.Cells)/cellsPerKey }

// Windows are the open seconds, and how far each writer was read. They
// begin empty at the stored cursors, and may be dropped at any time: all that they
// hold is in deltas beyond the cursors, or stored.
type Windows struct {
	open map[Instant]*OpenWindow
	// Keys is the sum of all open windows' Size.
	Keys int
	// read is the highest sequence number of each writer that is folded, or
	// was before the first pass.
	Read map[string]int64
	// stored is the newest second of each target that may be in the store. A
	// window beyond it need not be loaded.
	stored map[sample.Target]int64
}

// NewWindows returns no open window, and cursors at the positions already read.
func NewWindows(cursors map[string]int64) *Windows {
	return &Windows{
		open:   make(map[Instant]*OpenWindow),
		Read:   maps.Clone(cursors),
		stored: make(map[sample.Target]int64),
	}
}

// Delta is a delta that could be read.
type Delta struct {
	writer string
	seq    int64
	// windows are the parts of one second: a delta has one for each shard and each time
	// that a second was sealed.
	windows map[Instant][]*sketch.Window
	// Cardinality are the distinct keys of minutes.
	Cardinality []sketch.Registers
	// Callers are the callers of requests without a key.
	Callers []sketch.CallerLoad
}

// NewDelta returns a writer's delta with its windows by second.
func NewDelta(writer string, seq int64, d *sketch.Delta) Delta {
	all := make(map[Instant][]*sketch.Window)
	for i := range d.Windows {
		w := &d.Windows[i]
		at := Instant{w.Target, w.Second}
		all[at] = append(all[at], w)
	}
	return Delta{writer: writer, seq: seq, windows: all, Cardinality: d.Cardinality, Callers: d.Callers}
}

// After returns the deltas beyond these of each writer.
func After(deltas []Delta, read map[string]int64) []Delta {
	if len(read) == 0 {
		return deltas
	}
	return slices.DeleteFunc(slices.Clone(deltas), func(d Delta) bool { return d.seq <= read[d.writer] })
}

// Missing returns the seconds that these deltas add to and that are not in memory,
// of each target in order. They are loaded before the deltas are folded.
func (l *Windows) Missing(deltas []Delta) map[sample.Target][]int64 {
	seconds := make(map[sample.Target][]int64)
	for i := range deltas {
		for at := range deltas[i].windows {
			if l.open[at] == nil {
				seconds[at.Target] = append(seconds[at.Target], at.Second)
			}
		}
	}
	for at, wanted := range seconds {
		slices.Sort(wanted)
		seconds[at] = slices.Compact(wanted)
	}
	return seconds
}

// Reopen takes stored windows into memory again.
func (l *Windows) Reopen(loaded map[Instant]*OpenWindow) {
	for at, o := range loaded {
		l.open[at] = o
		l.Keys += o.Size()
	}
}

// Fold adds deltas, in the order of each writer's numbers.
func (l *Windows) Fold(deltas []Delta) {
	parts := make(map[Instant][]*sketch.Window)
	for i := range deltas {
		d := &deltas[i]
		for at, windows := range d.windows {
			if l.admit(at, d.writer, d.seq) {
				parts[at] = append(parts[at], windows...)
			}
		}
		l.Read[d.writer] = max(l.Read[d.writer], d.seq)
	}
	for at, all := range parts {
		l.add(at, all)
	}
}

// admit records a writer's delta of a second and reports whether its windows are still to
// be added.
func (l *Windows) admit(at Instant, writer string, seq int64) bool {
	o := l.open[at]
	if o == nil {
		o = &OpenWindow{Window: sketch.Window{Target: at.Target, Second: at.Second}}
		l.open[at] = o
	}
	w := o.writers.writer(writer)
	w.wait(seq)
	if w.newest >= seq {
		return false
	}
	w.newest = seq
	return true
}

// add adds parts to a second. The parts are consumed: their keys are moved or merged in
// place.
func (l *Windows) add(at Instant, parts []*sketch.Window) {
	o := l.open[at]
	l.Keys -= o.Size()
	part := joinWindows(parts)
	var keys []sketch.KeyLoad
	if len(o.Window.Keys) == 0 && o.Window.Unseen == (sketch.Load{}) { // most come at once: their keys are not copied
		keys, part.Keys = part.Keys, nil
	}
	if o.Window.Merge(part); keys != nil {
		o.Window.Keys = slices.Clip(keys)
	}
	l.Keys += o.Size()
	o.Unjudged = true
}

// joinWindows returns the sum of parts, in parts[0]. They are added in pairs, and the sums in
// pairs again: each key of fifty collectors' is then copied some six times, and not for each
// collector that comes after.
func joinWindows(parts []*sketch.Window) *sketch.Window {
	for n := len(parts); n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			parts[i].Merge(parts[n-1-i])
		}
	}
	return parts[0]
}

// maxTargets bounds the remembered targets. A forgotten one costs a query.
const maxTargets = 16 << 10

// NothingStored is before every second.
const NothingStored = -1 << 62

// Newest returns the newest second of a target that may be stored, and whether
// that is known.
func (l *Windows) Newest(at sample.Target) (int64, bool) {
	second, known := l.stored[at]
	return second, known
}

// SetNewest records the newest stored second of a target; nothingStored for none.
func (l *Windows) SetNewest(at sample.Target, second int64) {
	if len(l.stored) > maxTargets {
		clear(l.stored)
	}
	l.stored[at] = second
}

// Reopen returns a stored window as an open one.
func Reopen(row store.Window) (*OpenWindow, error) {
	w, err := Sketch(row)
	if err != nil {
		return nil, err
	}
	return &OpenWindow{Window: w, writers: writersOf(row.Vector), reopened: true}, nil
}

// Sketch returns a stored window's sketch.
func Sketch(row store.Window) (sketch.Window, error) {
	var w sketch.Window
	if err := w.UnmarshalBinary(row.Body); err != nil {
		return w, fmt.Errorf("stored window of %s at %s: %w", row.Name(), row.Second, err)
	}
	return w, nil
}

// NewestAfter returns the newest second after one, open or stored, of the targets at hand.
func (l *Windows) NewestAfter(second int64) (newest Instant, any bool) {
	newest.Second = second
	for at := range l.open {
		if at.Second > newest.Second {
			newest = at
		}
	}
	for target, stored := range l.stored {
		if stored > newest.Second {
			newest = Instant{target, stored}
		}
	}
	return newest, newest.Second > second
}

// Len returns how many windows are open.
func (l *Windows) Len() int { return len(l.open) }

// Window returns the open window of a second, nil when there is none.
func (l *Windows) Window(at Instant) *OpenWindow { return l.open[at] }

// Cursors returns how far each writer's deltas are wholly stored, once the windows
// in closing are. Waiting are the sequence numbers that something else waits for.
func (l *Windows) Cursors(closing []Instant, waiting map[string]int64) map[string]int64 {
	closes := make(map[Instant]bool, len(closing))
	for _, at := range closing {
		closes[at] = true
	}
	for at, o := range l.open {
		if !closes[at] {
			o.writers.hold(waiting)
		}
	}
	cursors := maps.Clone(l.Read)
	for writer, seq := range waiting {
		cursors[writer] = min(cursors[writer], seq-1)
	}
	return cursors
}

// Close drops windows that are stored now.
func (l *Windows) Close(closing []Instant) {
	for _, at := range closing {
		l.Keys -= l.open[at].Size()
		delete(l.open, at)
		if newest, known := l.stored[at.Target]; known {
			l.stored[at.Target] = max(newest, at.Second)
		}
	}
}

// Oldest returns the open seconds, the oldest first, in an order that is always
// the same.
func (l *Windows) Oldest() []Instant {
	return slices.SortedFunc(maps.Keys(l.open), Instant.compare)
}

// Row returns an open window in the store's form.
func (l *Windows) Row(at Instant, h Horizon) (store.Window, error) {
	o := l.open[at]
	body, err := o.Window.MarshalBinary()
	if err != nil {
		return store.Window{}, fmt.Errorf("write window of %s: %w", at.Name(), err)
	}
	_, complete := h.IsOver(at.Second)
	total := &o.Window.Total
	return store.Window{
		Target: at.Target, Second: time.Unix(at.Second, 0).UTC(),
		Requests:            total.Requests - total.ThrottledRequests,
		ReadMilli:           int64(total.Read - total.Throttled.Read),
		WriteMilli:          int64(total.Write - total.Throttled.Write),
		ThrottledRequests:   total.ThrottledRequests,
		ThrottledReadMilli:  int64(total.Throttled.Read),
		ThrottledWriteMilli: int64(total.Throttled.Write),
		Vector:              o.writers.vector(), Complete: complete, Body: body,
	}, nil
}

// Of a closed second the keys above a fiftieth of a limit are kept for the
// charts, at most so many; and every warm key, however many there are: the
// verdict may be about it.
const (
	keptShare = 50
	keptKeys  = 512
)

// KeepsPositions reports whether Trim keeps the positions of the keys that it drops: where the
// table's partitions are known, and their load may matter.
func (o *OpenWindow) KeepsPositions(partitions *partition.Map) bool {
	return partitions.IsDivided() && 2*detect.Weight(o.Window.Total.Load) >= detect.PartitionRead
}

// Trim drops the parts of a second that are not stored. place reports whether it keeps the
// positions of the dropped keys.
func (l *Windows) Trim(o *OpenWindow, place bool) {
	l.Keys -= o.Size()
	o.Window.Trim(sketch.Load{Read: detect.PartitionRead / keptShare, Write: detect.PartitionWrite / keptShare},
		max(keptKeys, countJudged(&o.Window)), place)
	l.Keys += o.Size()
}

// judged counts the keys that the verdict may be about, in the weight that Trim
// orders keys by: both limits are the same in it.
func countJudged(w *sketch.Window) (n int) {
	for i := range w.Keys {
		if detect.Weight(w.Keys[i].High()) >= detect.ShareOf(detect.PartitionRead, detect.TrackShare) {
			n++
		}
	}
	return n
}
