package erase

import (
	"slices"
	"strings"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// forget takes a key out of a second: its load is that of a key which no list has. It
// also takes the key out of the sort keys of others. It reports whether it was there.
// Totals stay, and the bounds of other keys.
func forget(w *sketch.Window, key sample.Key) (was bool) {
	kept := make([]sketch.KeyLoad, 0, len(w.Keys))
	for _, k := range w.Keys {
		if named(k.Key, k.Cut, key) {
			high := k.High()
			w.Unseen = sketch.Load{Read: max(w.Unseen.Read, high.Read), Write: max(w.Unseen.Write, high.Write)}
			was = true
			continue
		}
		if e, changed := without(k.Evidence, key.Text); changed {
			k.Evidence, was = e, true
		}
		kept = append(kept, k)
	}
	w.Keys = kept
	return was
}

// named reports whether what is kept of a key, which may be its beginning alone, may be
// this one.
func named(kept sample.Key, cut bool, key sample.Key) bool {
	return kept == key || cut && kept.Type == key.Type && strings.HasPrefix(key.Text, kept.Text)
}

// without returns evidence without the items of a sort key, and their places.
func without(e *sketch.Evidence, text string) (*sketch.Evidence, bool) {
	if e == nil {
		return nil, false
	}
	kept := *e
	kept.Items.Entries = slices.DeleteFunc(slices.Clone(e.Items.Entries), func(entry sketch.Entry) bool {
		if !beginning(entry.Text, text) {
			return false
		}
		kept.Items.Missing = max(kept.Items.Missing, entry.Weight+e.Items.Missing)
		return true
	})
	kept.Places = slices.DeleteFunc(slices.Clone(e.Places), func(p sketch.Place) bool { return beginning(p.Order, text) })
	return &kept, len(kept.Items.Entries) < len(e.Items.Entries) || len(kept.Places) < len(e.Places)
}

// beginning reports whether what is kept of a text may be this one, of which the end is
// cut off when it is long.
func beginning(kept, text string) bool {
	return kept == text || len(kept) >= sketch.EntryText && strings.HasPrefix(text, kept)
}
