package fold

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// writers are the writers of some deltas, by name. They are few, and a map of them would
// be most of the memory of a small table's second.
type writers []writer

type writer struct {
	name string
	// newest is the highest sequence number of its deltas that are in.
	newest int64
	// unsavedDeltas is the lowest sequence number to read again if its results are lost
	// before they are stored; 0 for none.
	unsaved int64
}

// writersOf returns the writers of a stored row, by their highest sequence numbers.
func writersOf(vector map[string]int64) writers {
	ws := make(writers, 0, len(vector))
	for _, name := range slices.Sorted(maps.Keys(vector)) {
		ws = append(ws, writer{name: name, newest: vector[name]})
	}
	return ws
}

// writer returns the one of a name, made if it is not there, until the next call.
func (ws *writers) writer(name string) *writer {
	i, known := slices.BinarySearchFunc(*ws, name, func(w writer, name string) int { return strings.Compare(w.name, name) })
	if !known {
		*ws = slices.Insert(*ws, i, writer{name: name})
	}
	return &(*ws)[i]
}

// wait has a sequence number read again, too, where it is lost.
func (w *writer) wait(seq int64) { w.unsaved = min(cmp.Or(w.unsaved, seq), seq) }

// hold lowers the sequence numbers that cursors wait for to the ones that are not stored.
func (ws writers) hold(waiting map[string]int64) {
	for _, w := range ws {
		if w.unsaved != 0 {
			waiting[w.name] = min(cmp.Or(waiting[w.name], w.unsaved), w.unsaved)
		}
	}
}

// vector returns the highest sequence numbers, as the store keeps them.
func (ws writers) vector() map[string]int64 {
	newest := make(map[string]int64, len(ws))
	for _, w := range ws {
		newest[w.name] = w.newest
	}
	return newest
}
