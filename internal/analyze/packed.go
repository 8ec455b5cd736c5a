package analyze

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// errFull is the error of [packedWindows.Pack] when the seconds do not fit, trimmed as they are.
var errFull = errors.New("the seconds take more memory than they may")

// trim chooses the keys of a second that stay.
type trim struct {
	// Floor is the load from which a key stays.
	Floor sketch.Load
	// Most is how many keys of a second stay at most, the most loaded ones.
	Most int
	// Place keeps the positions of the other keys.
	Place bool
}

// packing bounds the memory.
type packing struct {
	// Bytes is the bound of packed seconds.
	Bytes int64
	// Trims are tried beyond it, one after the other.
	Trims []trim
}

// The bounds of unpacked seconds, to which samples may be added soon.
const (
	packFrom    = 4 << 10  // seconds to which nothing was added lately
	maxOpen     = 32 << 10 // seconds
	maxOpenKeys = 1 << 19
)

// packedWindows are the seconds of many tables and indexes in little memory, for a reader that
// has to read all of a time before it is judged, in any order. They are for one goroutine.
//
// Seconds without recent additions are encoded and compressed, some hundreds together: a
// second of one key takes about 50 bytes instead of 1,700. They form runs, each in the
// order of time. A late second begins another run, and runs are merged when they have
// become too many, so that a second is held once. Over their bound, seconds are trimmed
// to the keys that a verdict needs; proven loads stay true.
type packedWindows struct {
	options packing
	open    map[instant]*openWindow
	keys    int   // of open
	turn    int64 // counts the calls of Pack
	from    int64 // the first second that counts
	runs    []packedRun
	bytes   int64 // of runs
	merged  int64 // bytes, when runs were merged last
}

// openWindow is a second that is not packed.
type openWindow struct {
	sketch.Window
	touched int64 // the turn in which it was added to last
}

// instant is one second of a table or index.
type instant struct {
	second int64
	target sample.Target
}

func instantOf(w *sketch.Window) instant { return instant{w.Second, w.Target} }

// compare orders seconds by time, then by table and index.
func (i instant) compare(o instant) int {
	return cmp.Or(cmp.Compare(i.second, o.second), cmp.Compare(i.target.Table, o.target.Table),
		cmp.Compare(i.target.Index, o.target.Index), i.target.Compare(o.target))
}

// newPackedWindows returns no seconds yet.
func newPackedWindows(o packing) *packedWindows {
	return &packedWindows{options: o, open: make(map[instant]*openWindow)}
}

// Add adds a part of a second, and keeps it.
func (w *packedWindows) Add(part *sketch.Window) {
	at := instantOf(part)
	of := w.open[at]
	if of == nil {
		of = &openWindow{Window: sketch.Window{Target: part.Target, Second: part.Second}}
		w.open[at] = of
	}
	w.keys -= len(of.Keys)
	of.Merge(part)
	of.touched = w.turn
	w.keys += len(of.Keys)
}

// Pack packs seconds without additions since the call before: all, when they are many.
// Its error is [errFull].
func (w *packedWindows) Pack() error {
	turn := w.turn
	w.turn++
	all := len(w.open) > maxOpen || w.keys > maxOpenKeys
	var order []instant
	for at, of := range w.open {
		if all || of.touched < turn {
			order = append(order, at)
		}
	}
	if len(order) < packFrom && !all {
		return nil
	}
	slices.SortFunc(order, instant.compare)
	if err := w.add(w.runAfter(order[0]), func(yield func(*sketch.Window) bool) {
		for _, at := range order {
			if !yield(&w.open[at].Window) {
				return
			}
		}
	}); err != nil {
		return err
	}
	for _, at := range order {
		w.keys -= len(w.open[at].Keys)
		delete(w.open, at)
	}
	return w.enforceBudget()
}

// slack is how many bytes runs may have before they are merged, beside as many as they
// had when they were merged last.
const slack = 16 << 20

// maxRuns is the most runs. A reader of all has a block of each decoded.
const maxRuns = 64

// bound merges runs that hold many seconds twice, and keeps them within their bytes.
func (w *packedWindows) enforceBudget() error {
	if len(w.runs) > maxRuns || len(w.runs) > 1 && w.bytes > min(2*w.merged+slack, w.options.Bytes) {
		if err := w.merge(nil); err != nil {
			return err
		}
	}
	if w.bytes <= w.options.Bytes {
		return nil
	}
	for i := range w.options.Trims {
		if err := w.merge(&w.options.Trims[i]); err != nil {
			return err
		}
		if w.bytes <= w.options.Bytes/4*3 { // the next seconds need not be trimmed at once
			return nil
		}
	}
	return errFull
}

// merge makes one run of all, trimmed if t is set. It frees merged runs on the way, so
// that each second is held once.
func (w *packedWindows) merge(t *trim) error {
	runs := w.runs
	w.runs, w.bytes = nil, 0
	err := w.add(0, func(yield func(*sketch.Window) bool) {
		for of := range mergeRuns(w.from, runs, nil, true) {
			if t != nil {
				of.Trim(t.Floor, t.Most, t.Place)
			}
			if !yield(of) {
				return
			}
		}
	})
	w.merged = w.bytes
	return err
}

// All returns the seconds in the order of time, each once. The caller must not change
// them, nor add any meanwhile.
func (w *packedWindows) All() iter.Seq[*sketch.Window] {
	return func(yield func(*sketch.Window) bool) {
		open := slices.SortedFunc(maps.Keys(w.open), instant.compare)
		rest := func() *sketch.Window {
			if len(open) == 0 {
				return nil
			}
			of := &w.open[open[0]].Window
			open = open[1:]
			return of
		}
		for of := range mergeRuns(w.from, w.runs, rest, false) {
			if !yield(of) {
				return
			}
		}
	}
}

// Forget leaves out the seconds before one.
func (w *packedWindows) Forget(second int64) {
	w.from = max(w.from, second)
	for at, of := range w.open {
		if at.second < second {
			w.keys -= len(of.Keys)
			delete(w.open, at)
		}
	}
	for i := range w.runs {
		w.bytes -= w.runs[i].forget(second)
	}
	w.runs = slices.DeleteFunc(w.runs, func(r packedRun) bool { return len(r.blocks) == 0 })
}
